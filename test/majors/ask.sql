-- ask.sql: what a database of store.sql says, one line for each answer.
--
--	psql -X -At -f ask.sql DATABASE
--
-- The lines are those of every database that holds the same filters. Lines that begin
-- with "lost" name keys that are not found or values that are not whole: there must be
-- none.

\set ON_ERROR_STOP on
\set QUIET on
SET timezone = 'UTC';
SET client_min_messages = error;
CREATE TEMPORARY TABLE answer (kind text, shape text, missing bigint, passed bigint);
DO $$
DECLARE
	r recipe;
	missing bigint;
	passed bigint;
BEGIN
	FOR r IN SELECT * FROM recipe ORDER BY id LOOP
		EXECUTE format('SELECT count(*) FROM (%s) AS s WHERE NOT (SELECT filter FROM stored WHERE id = %s) @> k',
			keys_of(r.kind, 1, r.keys), r.id) INTO missing;
		EXECUTE format('SELECT count(*) FROM (%s) AS s WHERE (SELECT filter FROM stored WHERE id = %s) @> k',
			keys_of(r.kind, 20001, 30000), r.id) INTO passed;
		INSERT INTO answer VALUES (r.kind, r.shape, missing, passed);
		-- By slices of the stored value, and many keys in one call.
		EXECUTE format('SELECT count(*) FROM (%s) AS s, stored WHERE id = %s AND NOT bloom_contains(filter, k)',
			keys_of(r.kind, 1, least(r.keys, 50)), r.id) INTO missing;
		EXECUTE format('SELECT cardinality(array_positions(bloom_contains_each(filter, array(SELECT k FROM (%s) AS s)), true)) FROM stored WHERE id = %s',
			keys_of(r.kind, 1, r.keys), r.id) INTO passed;
		INSERT INTO answer VALUES (r.kind, r.shape, missing + r.keys - passed, NULL);
	END LOOP;
END
$$;

SELECT 'lost', * FROM answer WHERE missing <> 0;
SELECT 'lost', 'not whole', id FROM stored WHERE NOT bloom_verify(filter);
SELECT 'lost', 'not whole', form, keys FROM form WHERE NOT bloom_verify(filter);
SELECT 'lost', form, k FROM form, generate_series(1, keys) AS k WHERE NOT bloom_contains(filter, k);
SELECT 'lost', 'part', k FROM looked_up WHERE k <= 40000 AND NOT found;
SELECT 'lost', 'parted', k FROM generate_series(1, 40000) AS k
WHERE NOT (SELECT filter FROM parted WHERE part = bloom_part(k, 4, 9)) @> k;
SELECT 'lost', 'account', id FROM account WHERE NOT ask(id);
SELECT 'lost', 'built', id FROM asked WHERE NOT holds;
SELECT 'lost', 'nested', k FROM nested, generate_series(1, 1000) AS k
WHERE NOT (list[1] @> ('Schlüssel ' || k) AND (labelled).filter @> ('Schlüssel ' || k) AND small @> ('Schlüssel ' || k));

SELECT 'lost', 'published', id FROM account WHERE NOT bloom_lookup('account', id);
SELECT 'lost', 'live', id FROM built WHERE NOT bloom_index_contains('built_live', id);
SELECT 'lost', 'live partitions', id FROM account WHERE NOT bloom_index_contains('account', 'id', id);

SELECT kind, shape, passed FROM answer WHERE passed IS NOT NULL ORDER BY kind COLLATE "C", shape COLLATE "C";
SELECT kind, shape, md5(filter::bytea), s.*
FROM stored JOIN recipe USING (id), bloom_stats(filter) AS s ORDER BY kind COLLATE "C", shape COLLATE "C";
SELECT form, keys, md5(bloomfilter_send(filter)) FROM form ORDER BY form COLLATE "C", keys;
SELECT p.part, md5(p.filter::bytea), s.part, s.parts, s.n
FROM part AS p JOIN parted USING (part, filter), bloom_stats(p.filter) AS s ORDER BY p.part;
SELECT tableoid::regclass, count(*), sum(id) FROM account GROUP BY 1 ORDER BY 1;
SELECT md5(list::text), md5(labelled::text), md5(many::text), md5(small::text) FROM nested;
SELECT id, md5(filter::bytea), asked, round(fpr::numeric, 12), part FROM built ORDER BY id;
SELECT count(*) FROM looked_up WHERE found;
SELECT count(*) FROM asked WHERE own;
SELECT md5(filter::bytea) FROM whitelist;
SELECT count(*) FROM generate_series(1, 40000) AS k WHERE ask(k);
SELECT size_of(filter) FROM whitelist;
SELECT ask_or(42), ask_or(-42), ask_or(-42, bloom_add(bloom_create(10), -42::bigint));
SELECT md5(joined(filter)::bytea), md5(bloom_union_agg(filter)::bytea) FROM built;
SELECT md5(lo_get(id)), lo_get(id)::bloomfilter = (SELECT bloom_union_agg(filter) FROM stored WHERE filter::bytea = lo_get(file.id))
FROM file ORDER BY 1;
SELECT name, part, md5(filter::bytea) FROM bloom_list JOIN bloom_list_part USING (name) ORDER BY part;
SELECT name, part, md5(filter::bytea) FROM bloom_generation_part WHERE back = 1 ORDER BY part;
SELECT md5(bloom_snapshot('built_live')::bytea), bloom_index_verify('built_live');
SELECT count(*) FROM generate_series(1, 6000) AS k WHERE bloom_index_contains('account', 'id', k::bigint);
