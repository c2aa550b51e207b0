-- Views over this release for DuckDB 1.1 or later. Run it inside this folder: duckdb -init views.sql
-- The estimate of a count is SELECT SUM(probability) FROM joined WHERE ...
-- A name gets an underscore where DuckDB would take it for another one.

CREATE OR REPLACE TEMP VIEW qit AS
SELECT * FROM read_parquet('qit.parquet') AS published("age, in ""years""", "né|alt", "zip", "ward", "admitted", "pain", "bucket");

CREATE OR REPLACE TEMP VIEW sat AS
SELECT * FROM read_parquet('sat.parquet') AS published("bucket", "diagnosis", "days");

CREATE OR REPLACE TEMP VIEW bucket_sizes AS
SELECT "bucket", COUNT(*) AS "size" FROM sat GROUP BY "bucket";

CREATE OR REPLACE TEMP VIEW probabilities AS
SELECT "bucket", "diagnosis", "days", CAST(COUNT(*) AS DOUBLE) / ANY_VALUE("size") AS "probability"
FROM sat JOIN bucket_sizes USING ("bucket") GROUP BY "bucket", "diagnosis", "days";

CREATE OR REPLACE TEMP VIEW joined AS
SELECT * FROM qit JOIN probabilities USING ("bucket");
