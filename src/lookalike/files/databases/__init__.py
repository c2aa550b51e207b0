"""Tables that lie in a database: PostgreSQL, SQLite or DuckDB, by ADBC, which hands Arrow batches over.

    address     what a URL says: which database, which table; passwords are kept out of sight
    naming      names of tables and columns, quoted
    dialects    what the three do each in their own way
    connecting  a connection that is given back, and errors without the driver's words
    reading     the columns that are asked for, as a frame

Drivers are loaded when a database is opened, not before.
"""
