-- Filters are compared byte for byte, and hashed by their checksum: rows that have one
-- are compared, grouped, joined and checked by triggers as any others.
\pset format unaligned
\pset tuples_only on
CREATE TABLE compared (id int, filter bloomfilter, note text);
INSERT INTO compared
SELECT i, (SELECT bloom_agg(g, n, 0.01, 7) FROM generate_series(1, 100) g WHERE g % 3 = i % 3), 'x'
FROM generate_series(1, 9) i, (VALUES (100), (20000)) size(n);

-- Stored within the row and outside it.
SELECT count(*), bool_or(pg_column_size(filter) > 10000) AS large FROM compared;
SELECT count(*) FROM (SELECT DISTINCT filter FROM compared) s;
SELECT count(*) FROM (SELECT filter FROM compared EXCEPT SELECT filter FROM compared WHERE id > 2) s;
SELECT count(*), min(c), max(c) FROM (SELECT count(*) c FROM compared GROUP BY filter) s;
SET enable_nestloop = off;
SET enable_mergejoin = off;
SELECT count(*) FROM compared a JOIN compared b ON a.filter = b.filter;
EXPLAIN (COSTS OFF) SELECT count(*) FROM compared a JOIN compared b ON a.filter = b.filter;
RESET enable_nestloop;
RESET enable_mergejoin;

-- Equal filters have equal hashes, wherever they are.
SELECT count(DISTINCT bloomfilter_hash_value(filter)), count(DISTINCT bloomfilter_hash_value(filter::text::bloomfilter)),
	bool_and(bloomfilter_hash_value(filter) = bloomfilter_hash_value(bloom_union(filter, filter))) AS in_memory
FROM compared;

-- The idiom of PostgreSQL's manual for triggers that look for a change.
CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
	RAISE NOTICE 'row % changed, had 1000: %, has: %', new.id, old.filter @> 1000, new.filter @> 1000;
	RETURN new;
END $$;
CREATE TRIGGER changed BEFORE UPDATE ON compared FOR EACH ROW
	WHEN (old.* IS DISTINCT FROM new.*) EXECUTE FUNCTION tell();
UPDATE compared SET note = 'y' WHERE id = 1 AND pg_column_size(filter) < 10000;
UPDATE compared SET note = note WHERE id = 2;
UPDATE compared SET filter = bloom_add(filter, 1000) WHERE id = 3;
SELECT count(*) FROM compared a, compared b WHERE a.* = b.*;

-- There is no order.
SELECT filter FROM compared ORDER BY filter;
SELECT count(DISTINCT filter) FROM compared;
CREATE INDEX ON compared (filter);
CREATE INDEX ON compared USING hash (filter);
DROP TABLE compared;
DROP FUNCTION tell();

-- Who may ask or combine filters isn't told their seed by an error.
DO $$
DECLARE
	detail text;
	hint text;
BEGIN
	PERFORM bloom_union(bloom_create(10, 0.1, 424242), bloom_create(10, 0.1, 434343));
EXCEPTION WHEN data_exception THEN
	GET STACKED DIAGNOSTICS detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
	RAISE NOTICE '% %', detail, hint;
END $$;
SELECT bloom_contains(bloom_create_part(1 - bloom_part(1, 2, 424242), 2, 10, 0.1, 424242), 1);
