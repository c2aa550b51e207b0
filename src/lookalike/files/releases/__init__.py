"""Releases on disk: folders that are Frictionless data packages, written whole or not at all, and read back.

writing  -> cells, manifest, readme, placing       a Release becomes a folder, and is read back before it counts
parts    -> writing, tablefiles                    the same part by part, for tables that nobody holds at once
reading  -> folder (assembly), foreign (notations) a folder, or another tool's table, becomes a Release again,
                                                   over the domains of the original
canonical, spellings, agreeing                     does a folder, or another tool's table, say more than its release
private                                            what stays with the owner
"""
