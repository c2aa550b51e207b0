"""The browser interface. Not built yet."""
