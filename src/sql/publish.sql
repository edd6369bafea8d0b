--
-- Published lists
--

-- The tables: each list's current generation (back = 0) and the one before it (back = 1).
-- Identity and serial are the list's own, in its row, so that dumps, replication and
-- pg_upgrade carry them.  Names have the collation "C", by which look-ups read the index.

CREATE TABLE bloom_generation (
	name text COLLATE "C" NOT NULL CHECK (pg_catalog.octet_length(name) BETWEEN 1 AND 1000),
	back smallint NOT NULL CHECK (back BETWEEN 0 AND 1),
	identity uuid NOT NULL,
	serial bigint NOT NULL CHECK (serial > 0),
	built_at timestamp with time zone NOT NULL,
	built_xmin xid8,
	n bigint NOT NULL CHECK (n > 0),
	p double precision NOT NULL,
	seed bigint NOT NULL,
	parts integer NOT NULL,
	keys bigint,
	nulls bigint,
	build_seconds double precision,
	check_seconds double precision,
	published_by name NOT NULL,
	min_n bigint,
	min_parts integer CHECK (min_parts BETWEEN 1 AND 65535),
	max_shrink double precision NOT NULL,
	most_keys double precision NOT NULL,
	most_keys_at timestamp with time zone NOT NULL,
	most_others double precision NOT NULL,
	most_others_at timestamp with time zone NOT NULL,
	cardinality double precision NOT NULL,
	rate double precision NOT NULL,
	fullest_part double precision NOT NULL,
	bytes bigint NOT NULL,
	key_type text,
	others bigint,
	planned_others bigint,
	unknown bigint,
	conflicts bigint,
	PRIMARY KEY (name, back)
);
COMMENT ON TABLE bloom_generation IS 'published lists: the current generation and the one before it';

CREATE TABLE bloom_generation_part (
	name text COLLATE "C" NOT NULL,
	back smallint NOT NULL,
	part integer NOT NULL,
	filter bloomfilter NOT NULL,
	PRIMARY KEY (name, back, part)
) WITH (
	toast.autovacuum_vacuum_scale_factor = 0.01,
	toast.autovacuum_vacuum_cost_delay = 0,
	toast.vacuum_truncate = false
);
-- As its type is: to be read by slices.
ALTER TABLE bloom_generation_part ALTER filter SET STORAGE external;
COMMENT ON TABLE bloom_generation_part IS 'the filters of published lists';

-- How the last run for each list went: also for lists that were never published.  It is not dumped.

CREATE TABLE bloom_run (
	name text COLLATE "C" PRIMARY KEY CHECK (pg_catalog.octet_length(name) BETWEEN 1 AND 1000),
	started_at timestamp with time zone NOT NULL,
	ended_at timestamp with time zone,
	error text,
	started_by name NOT NULL
);
COMMENT ON TABLE bloom_run IS 'when the last publish of each list started, and how it ended; written by bloom_publish';

-- By which query a list was published, for bloom_refresh to run it again.  Only the
-- extension's C code writes this table.  Nobody gets rights on it, and the triggers stop those
-- who write without such rights, as members of pg_write_all_data do; the one for rows stops
-- logical replication, which fires no others, and skips its rows.  It is not dumped: in another
-- cluster a role's OID is another role's.

CREATE TABLE bloom_definition (
	name text COLLATE "C" PRIMARY KEY,
	role oid NOT NULL,
	role_name name NOT NULL,
	query text NOT NULL,
	search_path text NOT NULL,
	"check" boolean NOT NULL,
	allow_empty boolean NOT NULL,
	on_conflict smallint NOT NULL
) USING heap;
COMMENT ON TABLE bloom_definition IS 'queries of published lists, for bloom_refresh; written by bloom_publish alone';

CREATE FUNCTION bloom_definition_guard() RETURNS trigger
	AS 'MODULE_PATHNAME', 'bloomfilter_definition_guard' LANGUAGE C;
COMMENT ON FUNCTION bloom_definition_guard() IS 'trigger function that keeps SQL from changing bloom_definition';
REVOKE EXECUTE ON FUNCTION bloom_definition_guard() FROM PUBLIC;
CREATE TRIGGER guard BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON bloom_definition
	FOR EACH STATEMENT EXECUTE FUNCTION bloom_definition_guard();
CREATE TRIGGER guard_row BEFORE INSERT OR UPDATE OR DELETE ON bloom_definition
	FOR EACH ROW EXECUTE FUNCTION bloom_definition_guard();
ALTER TABLE bloom_definition ENABLE ALWAYS TRIGGER guard, ENABLE ALWAYS TRIGGER guard_row;

-- They are data of the database, to be dumped with it.
SELECT pg_catalog.pg_extension_config_dump('bloom_generation', '');
SELECT pg_catalog.pg_extension_config_dump('bloom_generation_part', '');

CREATE VIEW bloom_list AS
	SELECT name, identity, serial, built_at, built_xmin, n, p, seed, parts, keys,
		build_seconds, check_seconds
	FROM bloom_generation
	WHERE back = 0;
COMMENT ON VIEW bloom_list IS 'published lists, their current generations';
COMMENT ON COLUMN bloom_list.name IS 'by which the list is published and looked up';
COMMENT ON COLUMN bloom_list.identity IS 'random when the list is first published; another list of the same name has another one';
COMMENT ON COLUMN bloom_list.serial IS 'grows whenever the list changes: the last one + 1, or the microseconds since 1970 if these are more';
COMMENT ON COLUMN bloom_list.built_at IS 'when the transaction began that built the filters';
COMMENT ON COLUMN bloom_list.built_xmin IS 'transactions from this one on may have committed after the build; NULL where no query was run';
COMMENT ON COLUMN bloom_list.n IS 'number of keys that the list is sized for';
COMMENT ON COLUMN bloom_list.p IS 'false-positive rate that was asked for';
COMMENT ON COLUMN bloom_list.seed IS 'seed of the filters; keep it secret where users choose the keys';
COMMENT ON COLUMN bloom_list.parts IS 'number of filters that the keys are split into';
COMMENT ON COLUMN bloom_list.keys IS 'rows of the query that had a key; NULL where no query was run';
COMMENT ON COLUMN bloom_list.build_seconds IS 'time that the build took';
COMMENT ON COLUMN bloom_list.check_seconds IS 'time that the look-ups of all keys took; NULL without that check';

CREATE VIEW bloom_list_part AS
	SELECT name, part, filter
	FROM bloom_generation_part
	WHERE back = 0;
COMMENT ON VIEW bloom_list_part IS 'the filters of published lists, as they are asked now';

COMMENT ON COLUMN bloom_list_part.name IS 'of the list';
COMMENT ON COLUMN bloom_list_part.part IS 'number of the part, from 0';
COMMENT ON COLUMN bloom_list_part.filter IS 'the filter of this part';

-- For the view alone: it says no more than the row of bloom_run that the view shows.
CREATE FUNCTION bloom_run_died(name text, started_at timestamp with time zone) RETURNS boolean
	AS 'MODULE_PATHNAME', 'bloomfilter_run_died' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION bloom_run_died(text, timestamp with time zone) IS 'support function of bloom_published: whether a run whose lock nobody holds has not ended';

-- A query may hold what only its publisher should read.  Operators are PostgreSQL's, and functions are
-- qualified: one that somebody else planted, and that fits better, would run for everybody who looks.
-- A run that goes on holds the lock of its list, space 0xb10f, which a standby doesn't see.
CREATE VIEW bloom_published AS
	SELECT coalesce(l.name, r.name) AS name, l.identity, l.serial, l.built_at,
		pg_catalog.now() OPERATOR(pg_catalog.-) l.built_at AS age, l.published_by,
		CASE WHEN pg_catalog.pg_has_role(d.role, 'USAGE') OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE') THEN d.query END AS query,
		l.build_seconds, l.check_seconds, l.keys, l.nulls, l.n, l.p,
		CASE WHEN l.name IS NOT NULL THEN l.planned_others IS NOT NULL END AS exact, l.others, l.unknown, l.conflicts,
		l.rate, l.fullest_part, l.bytes, l.parts, l.key_type, l.max_shrink,
		CASE WHEN r.error IS NOT NULL THEN 'failed'
			WHEN r.ended_at IS NOT NULL THEN 'ended'
			WHEN pg_catalog.pg_is_in_recovery() OR EXISTS (
				SELECT FROM pg_catalog.pg_lock_status() k
				JOIN pg_catalog.pg_database b ON b.oid OPERATOR(pg_catalog.=) k.database
				JOIN pg_catalog.pg_class c ON c.relnamespace OPERATOR(pg_catalog.=) k.classid
				WHERE k.locktype OPERATOR(pg_catalog.=) 'advisory' AND k.objsubid OPERATOR(pg_catalog.=) '-20209'::smallint
					AND b.datname OPERATOR(pg_catalog.=) pg_catalog.current_database() AND c.oid OPERATOR(pg_catalog.=) r.tableoid
					AND k.objid OPERATOR(pg_catalog.=) pg_catalog.hashtext(r.name)::bit(32)::bigint::oid AND k.granted
			) THEN 'running'
			WHEN bloom_run_died(r.name, r.started_at) THEN 'died'
			WHEN r.started_at IS NOT NULL THEN 'running'
		END AS run, r.started_at AS run_started_at, r.ended_at AS run_ended_at, r.error AS run_error,
		EXISTS (
			SELECT FROM bloom_generation b
			WHERE b.name OPERATOR(pg_catalog.=) l.name AND b.back OPERATOR(pg_catalog.=) 1::smallint
		) AS has_before
	FROM (SELECT * FROM bloom_generation g WHERE g.back OPERATOR(pg_catalog.=) 0::smallint) l
	FULL JOIN bloom_run r ON r.name OPERATOR(pg_catalog.=) l.name
	LEFT JOIN bloom_definition d ON d.name OPERATOR(pg_catalog.=) l.name;
COMMENT ON VIEW bloom_published IS 'published lists: how old, how large, how full, what their build and check took, and how the last run went, also of lists that were never published';
COMMENT ON COLUMN bloom_published.name IS 'by which the list is published and looked up';
COMMENT ON COLUMN bloom_published.identity IS 'random when the list is first published; another list of the same name has another one';
COMMENT ON COLUMN bloom_published.serial IS 'grows whenever the list changes';
COMMENT ON COLUMN bloom_published.built_at IS 'when the transaction began that built the filters';
COMMENT ON COLUMN bloom_published.age IS 'time since built_at; negative if the clock was set back';
COMMENT ON COLUMN bloom_published.published_by IS 'role that published, with whose rights the query ran';
COMMENT ON COLUMN bloom_published.query IS 'query that bloom_refresh runs; NULL if there is none, or for others than members of its publisher and of pg_read_all_stats';
COMMENT ON COLUMN bloom_published.build_seconds IS 'time that the build took';
COMMENT ON COLUMN bloom_published.check_seconds IS 'time that the look-ups of all keys took, of an exact list with levels 2 and 3; NULL without that check';
COMMENT ON COLUMN bloom_published.keys IS 'rows of the query that had a key, of an exact list also true; NULL where no query was run';
COMMENT ON COLUMN bloom_published.nulls IS 'rows of the query whose key was NULL and was skipped; NULL where no query was run';
COMMENT ON COLUMN bloom_published.exact IS 'whether all keys of the query get the right answer';
COMMENT ON COLUMN bloom_published.others IS 'of an exact list: rows whose boolean is not true; NULL for a plain list, and where no query was run';
COMMENT ON COLUMN bloom_published.unknown IS 'of these, rows whose boolean is null';
COMMENT ON COLUMN bloom_published.conflicts IS 'keys with both booleans, which on_conflict decided';
COMMENT ON COLUMN bloom_published.n IS 'number of keys that the list is sized for';
COMMENT ON COLUMN bloom_published.p IS 'false-positive rate that was asked for';
COMMENT ON COLUMN bloom_published.rate IS 'false-positive rate of the fullest part, by its bits when it was published; of an exact list for keys that it does not know';
COMMENT ON COLUMN bloom_published.fullest_part IS 'keys of the fullest part as a share of what it is sized for';
COMMENT ON COLUMN bloom_published.bytes IS 'size of all filters';
COMMENT ON COLUMN bloom_published.parts IS 'number of filters that the keys are split into';
COMMENT ON COLUMN bloom_published.key_type IS 'type of the keys; NULL if there is no key';
COMMENT ON COLUMN bloom_published.max_shrink IS 'share of its keys that the list may lose by a publish; 1 allows all';
COMMENT ON COLUMN bloom_published.run IS 'how the last publish of the list went: running, ended, failed, or died without a word';
COMMENT ON COLUMN bloom_published.run_started_at IS 'when it started';
COMMENT ON COLUMN bloom_published.run_ended_at IS 'when it ended or failed';
COMMENT ON COLUMN bloom_published.run_error IS 'the error by which it failed';
COMMENT ON COLUMN bloom_published.has_before IS 'whether bloom_rollback has a list to go back to';

-- Nobody runs with another's rights: who publishes needs rights on the tables.

CREATE PROCEDURE bloom_publish(
	name text,
	query text,
	n bigint DEFAULT NULL,
	p double precision DEFAULT NULL,
	parts integer DEFAULT NULL,
	seed bigint DEFAULT NULL,
	"check" boolean DEFAULT true,
	allow_empty boolean DEFAULT false,
	max_shrink double precision DEFAULT NULL,
	allow_type_change boolean DEFAULT false,
	on_conflict boolean DEFAULT NULL
)
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_query' LANGUAGE C;
COMMENT ON PROCEDURE bloom_publish(text, text, bigint, double precision, integer, bigint, boolean, boolean, double precision, boolean, boolean) IS 'builds a filter of a query''s keys, checks it and publishes it as a list';

CREATE PROCEDURE bloom_refresh(name text)
	AS 'MODULE_PATHNAME', 'bloomfilter_refresh' LANGUAGE C;
COMMENT ON PROCEDURE bloom_refresh(text) IS 'publishes a list again by its query, as the role that published it';

-- Functions, since PostgreSQL takes no subquery as an argument of CALL.

CREATE FUNCTION bloom_publish_filter(name text, filter bloomfilter, max_shrink double precision DEFAULT NULL, allow_type_change boolean DEFAULT false) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_filter' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_publish_filter(text, bloomfilter, double precision, boolean) IS 'publishes a filter as a list and returns its serial';

CREATE FUNCTION bloom_publish_filter(name text, filters bloomfilter[], max_shrink double precision DEFAULT NULL, allow_type_change boolean DEFAULT false) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_filters' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_publish_filter(text, bloomfilter[], double precision, boolean) IS 'publishes a set of filters, all its parts, as a list and returns its serial';

CREATE PROCEDURE bloom_rollback(name text)
	AS 'MODULE_PATHNAME', 'bloomfilter_rollback' LANGUAGE C;
COMMENT ON PROCEDURE bloom_rollback(text) IS 'brings the generation before back, once';

CREATE PROCEDURE bloom_drop(name text)
	AS 'MODULE_PATHNAME', 'bloomfilter_drop' LANGUAGE C;
COMMENT ON PROCEDURE bloom_drop(text) IS 'removes a list';

CREATE PROCEDURE bloom_set_identity(name text, identity uuid)
	AS 'MODULE_PATHNAME', 'bloomfilter_set_identity' LANGUAGE C;
COMMENT ON PROCEDURE bloom_set_identity(text, uuid) IS 'gives a list the identity by which its followers know it';
