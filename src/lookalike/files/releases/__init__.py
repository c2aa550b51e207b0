"""Releases on disk: folders that are Frictionless data packages, written whole or not at all, and read back.

write -> cells, describe, readme           a Release becomes a folder, and is read back before it counts
parts -> write, tablefiles                 the same part by part, for tables that nobody holds at once
read, other_tools -> assemble              a folder, or another tool's table, becomes a Release again, over the domains
                                           of the original; `alone` works them out from the folder
private                                    what stays with the owner
"""
