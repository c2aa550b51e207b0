"""Everything that crosses the border of the process: tables, databases, releases, addresses, atomic folders."""
