"""Does a folder, or a table of another tool, say more than its release?"""
