"""Tables that lie in a database: PostgreSQL, SQLite or DuckDB, by ADBC, which hands Arrow batches over.

    address     what a URL says: which database, which table; names are quoted, passwords kept out of sight
    connect     a connection that is given back, and errors without the driver's words
    read        the columns that are asked for, as a frame
    write       a release as tables

Drivers are loaded when a database is opened, not before.
"""
