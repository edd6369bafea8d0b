--
-- Published lists
--

-- The tables: each list's current generation (back = 0) and the one before it (back = 1).
-- Identity and serial are the list's own, in its row, so that dumps, replication and
-- pg_upgrade carry them.  Names have the collation "C", by which look-ups read the index.

CREATE TABLE bloom_generation (
	name text COLLATE "C" NOT NULL CHECK (pg_catalog.octet_length(name) BETWEEN 1 AND 200),
	back smallint NOT NULL CHECK (back BETWEEN 0 AND 1),
	identity uuid NOT NULL,
	serial bigint NOT NULL CHECK (serial > 0),
	built_at timestamp with time zone NOT NULL,
	built_xmin xid8,
	n bigint NOT NULL CHECK (n > 0),
	p double precision NOT NULL,
	seed bigint NOT NULL,
	parts integer NOT NULL,
	rows bigint,
	nulls bigint,
	build_seconds double precision,
	check_seconds double precision,
	published_by name NOT NULL,
	published_at timestamp with time zone NOT NULL,
	min_n bigint,
	min_parts integer CHECK (min_parts BETWEEN 1 AND 65535),
	max_shrink double precision NOT NULL CHECK (max_shrink BETWEEN 0::double precision AND 1::double precision),
	next_p double precision,
	most_keys double precision NOT NULL,
	most_keys_at timestamp with time zone NOT NULL,
	most_others double precision NOT NULL,
	most_others_at timestamp with time zone NOT NULL,
	keys double precision NOT NULL,
	rate double precision NOT NULL,
	fullest_part double precision NOT NULL,
	bytes bigint NOT NULL,
	key_type text,
	others bigint,
	planned_others bigint,
	unknown bigint,
	conflicts bigint,
	contradicted bigint,
	by_table boolean NOT NULL DEFAULT false,
	PRIMARY KEY (name, back)
);
COMMENT ON TABLE bloom_generation IS 'published lists: the current generation and the one before it';

CREATE TABLE bloom_generation_part (
	name text COLLATE "C" NOT NULL,
	back smallint NOT NULL,
	part integer NOT NULL,
	filter bloomfilter NOT NULL,
	tracked boolean NOT NULL DEFAULT false,
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
	name text COLLATE "C" PRIMARY KEY CHECK (pg_catalog.octet_length(name) BETWEEN 1 AND 200),
	started_at timestamp with time zone NOT NULL,
	ended_at timestamp with time zone,
	error text,
	started_by name NOT NULL
);
COMMENT ON TABLE bloom_run IS 'when the last publish of each list started, and how it ended; written by bloom_publish';

-- Whose each list is, and by which query it was published, with which settings, for bloom_refresh to run
-- it again; before_* for the generation before.  A list that was published as a value has no query.
-- It is dumped, and so has the owner's name: a number is another role's elsewhere.

CREATE TABLE bloom_definition (
	name text COLLATE "C" PRIMARY KEY CHECK (pg_catalog.octet_length(name) BETWEEN 1 AND 200),
	owner name NOT NULL,
	query text,
	settings text[],
	"check" boolean,
	allow_empty boolean,
	on_conflict smallint CHECK (on_conflict BETWEEN 0 AND 2),
	before_query text,
	before_settings text[],
	before_check boolean,
	before_allow_empty boolean,
	before_on_conflict smallint CHECK (before_on_conflict BETWEEN 0 AND 2),
	CHECK (query IS NULL OR (settings[1] IS NOT NULL AND "check" IS NOT NULL AND allow_empty IS NOT NULL AND on_conflict IS NOT NULL)),
	CHECK (before_query IS NULL OR (before_settings[1] IS NOT NULL AND before_check IS NOT NULL AND before_allow_empty IS NOT NULL AND before_on_conflict IS NOT NULL))
) USING heap;
COMMENT ON TABLE bloom_definition IS 'owners and queries of lists; written by the procedures alone, and by a restore';

-- Which role of this cluster that owner is, where a publish or a restore by somebody who could become
-- it has said so.  It is not dumped.

CREATE TABLE bloom_owner (
	name text COLLATE "C" PRIMARY KEY,
	role oid NOT NULL
) USING heap;
COMMENT ON TABLE bloom_owner IS 'roles that own lists here; written by the procedures alone, and by what accepts a restored owner';

-- One row for each key that was changed, with a version that grows.  A key is 4 bytes of kind and
-- its own bytes.  Every second change of a key leaves the index alone: there is no other index and
-- no other column, and pages have room.  A statement for each row would compile each CHECK.

CREATE TABLE bloom_change (
	name text COLLATE "C" NOT NULL,
	key bytea NOT NULL,
	value boolean NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (name, key)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01);
COMMENT ON TABLE bloom_change IS 'keys of published lists that were changed since the list was published';

-- Which versions the generations of a list have absorbed.  The empty key, which no key has, stands for a
-- generation from before bloom_track that a rollback made the current one.
CREATE TABLE bloom_absorbed (
	name text COLLATE "C" NOT NULL,
	back smallint NOT NULL,
	key bytea NOT NULL,
	version bigint NOT NULL,
	PRIMARY KEY (name, back, key)
);
COMMENT ON TABLE bloom_absorbed IS 'changes that are in the filters of published lists';

CREATE FUNCTION bloom_guard() RETURNS trigger
	AS 'MODULE_PATHNAME', 'bloomfilter_guard' LANGUAGE C;
COMMENT ON FUNCTION bloom_guard() IS 'trigger function that keeps SQL from changing the tables of lists';
REVOKE EXECUTE ON FUNCTION bloom_guard() FROM PUBLIC;

-- Logical replication has rows, and no statements.
CREATE TRIGGER guard_row BEFORE INSERT OR UPDATE OR DELETE ON bloom_owner
	FOR EACH ROW EXECUTE FUNCTION bloom_guard();
ALTER TABLE bloom_owner ENABLE ALWAYS TRIGGER guard_row;

CREATE FUNCTION bloom_accept() RETURNS trigger
	AS 'MODULE_PATHNAME', 'bloomfilter_accept' LANGUAGE C;
COMMENT ON FUNCTION bloom_accept() IS 'trigger function that accepts the owner of a restored list, if the role that restores could become it';
REVOKE EXECUTE ON FUNCTION bloom_accept() FROM PUBLIC;
CREATE TRIGGER accept AFTER INSERT OR UPDATE OR DELETE ON bloom_definition
	FOR EACH ROW EXECUTE FUNCTION bloom_accept();
ALTER TABLE bloom_definition ENABLE ALWAYS TRIGGER accept;

-- They are data of the database, to be dumped with it.
SELECT pg_catalog.pg_extension_config_dump('bloom_generation', '');
SELECT pg_catalog.pg_extension_config_dump('bloom_generation_part', '');
SELECT pg_catalog.pg_extension_config_dump('bloom_definition', '');

CREATE VIEW bloom_list AS
	SELECT name, identity, serial, built_at, built_xmin, n, p, seed, parts, rows,
		build_seconds, check_seconds,
		(SELECT p.tracked FROM bloom_generation_part p
			WHERE p.name OPERATOR(pg_catalog.=) g.name AND p.back OPERATOR(pg_catalog.=) 0::smallint AND p.part OPERATOR(pg_catalog.=) 0) AS tracked
	FROM bloom_generation g
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
COMMENT ON COLUMN bloom_list.rows IS 'rows of the query that had a key; NULL where no query was run';
COMMENT ON COLUMN bloom_list.build_seconds IS 'time that the build took';
COMMENT ON COLUMN bloom_list.check_seconds IS 'time that the look-ups of all keys took; NULL without that check';
COMMENT ON COLUMN bloom_list.tracked IS 'whether there may be changes by day: bloom_list_change has them';

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
	SELECT coalesce(l.name, r.name) AS name, pg_catalog.now() OPERATOR(pg_catalog.-) l.built_at AS age,
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
		END AS run,
		r.error AS run_error, l.rows, pg_catalog.round(l.keys)::bigint AS keys, l.others, l.rate, l.bytes, a.rolname AS owner,
		l.published_by, l.published_at, l.built_at, r.started_at AS run_started_at, r.ended_at AS run_ended_at,
		l.nulls, l.unknown, l.conflicts, CASE WHEN l.name IS NOT NULL THEN l.planned_others IS NOT NULL END AS exact,
		l.n, l.p, l.parts, l.fullest_part, l.key_type, l.max_shrink, l.build_seconds, l.check_seconds, l.identity, l.serial,
		CASE WHEN pg_catalog.pg_has_role(a.oid, 'USAGE') OR pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE')
			OR a.oid IS NULL AND pg_catalog.pg_has_role('pg_database_owner', 'USAGE') THEN d.query END AS query,
		CASE WHEN d.query IS NOT NULL THEN ARRAY(
			SELECT k.setting FROM pg_catalog.unnest(d.settings) k(setting)
			WHERE k.setting OPERATOR(pg_catalog.<>) ALL (ARRAY(
				SELECT s.name OPERATOR(pg_catalog.||) '='::text OPERATOR(pg_catalog.||) s.reset_val FROM pg_catalog.pg_show_all_settings() s
				WHERE s.reset_val IS NOT NULL))
		) END AS settings,
		EXISTS (
			SELECT FROM bloom_generation b
			WHERE b.name OPERATOR(pg_catalog.=) l.name AND b.back OPERATOR(pg_catalog.=) 1::smallint
		) AS has_before,
		CASE WHEN t.tracked THEN COALESCE(c.changes, 0) END AS changes,
		COALESCE(c.kept, 0) AS changes_kept,
		l.contradicted
	FROM (SELECT * FROM bloom_generation g WHERE g.back OPERATOR(pg_catalog.=) 0::smallint) l
	FULL JOIN bloom_run r ON r.name OPERATOR(pg_catalog.=) l.name
	LEFT JOIN bloom_generation_part t ON t.name OPERATOR(pg_catalog.=) l.name
		AND t.back OPERATOR(pg_catalog.=) 0::smallint AND t.part OPERATOR(pg_catalog.=) 0
	-- counted once for all lists, as the planner expects many lists
	LEFT JOIN (
		SELECT c.name, pg_catalog.count(*) AS kept, pg_catalog.count(*) FILTER (WHERE b.name IS NULL) AS changes
		FROM bloom_change c LEFT JOIN bloom_absorbed b ON b.name OPERATOR(pg_catalog.=) c.name AND b.back OPERATOR(pg_catalog.=) 0::smallint
			AND b.key OPERATOR(pg_catalog.=) c.key AND b.version OPERATOR(pg_catalog.=) c.version
		GROUP BY c.name
	) c ON c.name OPERATOR(pg_catalog.=) l.name
	LEFT JOIN bloom_definition d ON d.name OPERATOR(pg_catalog.=) l.name
	LEFT JOIN bloom_owner o ON o.name OPERATOR(pg_catalog.=) l.name
	LEFT JOIN pg_catalog.pg_authid a ON a.oid OPERATOR(pg_catalog.=) o.role AND a.rolname OPERATOR(pg_catalog.=) d.owner;
COMMENT ON VIEW bloom_published IS 'published lists: how old, how large, how full, what their build and check took, and how the last run went, also of lists that were never published';
COMMENT ON COLUMN bloom_published.name IS 'by which the list is published and looked up';
COMMENT ON COLUMN bloom_published.age IS 'time since built_at; negative if the clock was set back';
COMMENT ON COLUMN bloom_published.run IS 'how the last publish of the list went: running, ended, failed, or died without a word';
COMMENT ON COLUMN bloom_published.run_error IS 'the error by which it failed';
COMMENT ON COLUMN bloom_published.rows IS 'rows of the query that had a key, of an exact list also true; NULL where no query was run';
COMMENT ON COLUMN bloom_published.keys IS 'different keys, as they are estimated by the bits';
COMMENT ON COLUMN bloom_published.others IS 'of an exact list: rows whose boolean is not true; NULL for a plain list, and where no query was run';
COMMENT ON COLUMN bloom_published.rate IS 'false-positive rate of the fullest part, by its bits when it was published; of an exact list for keys that it does not know';
COMMENT ON COLUMN bloom_published.bytes IS 'size of all filters';
COMMENT ON COLUMN bloom_published.owner IS 'role that the list belongs to, and that its query runs as; NULL if it has none here, which bloom_alter gives it';
COMMENT ON COLUMN bloom_published.published_by IS 'role that published it';
COMMENT ON COLUMN bloom_published.published_at IS 'when it was published';
COMMENT ON COLUMN bloom_published.built_at IS 'when the transaction began that built the filters';
COMMENT ON COLUMN bloom_published.run_started_at IS 'when it started';
COMMENT ON COLUMN bloom_published.run_ended_at IS 'when it ended or failed';
COMMENT ON COLUMN bloom_published.nulls IS 'rows of the query whose key was NULL and was skipped; NULL where no query was run';
COMMENT ON COLUMN bloom_published.unknown IS 'of these, rows whose boolean is null';
COMMENT ON COLUMN bloom_published.conflicts IS 'keys with both booleans, which on_conflict decided';
COMMENT ON COLUMN bloom_published.exact IS 'whether all keys of the query get the right answer';
COMMENT ON COLUMN bloom_published.n IS 'number of keys that the list is sized for';
COMMENT ON COLUMN bloom_published.p IS 'false-positive rate that was asked for';
COMMENT ON COLUMN bloom_published.parts IS 'number of filters that the keys are split into';
COMMENT ON COLUMN bloom_published.fullest_part IS 'keys of the fullest part as a share of what it is sized for';
COMMENT ON COLUMN bloom_published.key_type IS 'type of the keys; NULL if there is no key';
COMMENT ON COLUMN bloom_published.max_shrink IS 'share of its keys that the list may lose by a publish; 1 allows all';
COMMENT ON COLUMN bloom_published.build_seconds IS 'time that the build took';
COMMENT ON COLUMN bloom_published.check_seconds IS 'time that the look-ups of all keys took, of an exact list with levels 2 and 3; NULL without that check';
COMMENT ON COLUMN bloom_published.identity IS 'random when the list is first published; another list of the same name has another one';
COMMENT ON COLUMN bloom_published.serial IS 'grows whenever the list changes';
COMMENT ON COLUMN bloom_published.query IS 'query that bloom_refresh runs; NULL if there is none, or for others than members of the owner and of pg_read_all_stats, or of the database''s owner where the list has none';
COMMENT ON COLUMN bloom_published.settings IS 'settings that the query runs with and that are not this session''s defaults; NULL if there is no query';
COMMENT ON COLUMN bloom_published.has_before IS 'whether bloom_rollback has a list to go back to';
COMMENT ON COLUMN bloom_published.changes IS 'keys whose answer is that of a change since the list was published; NULL where the list is not tracked';
COMMENT ON COLUMN bloom_published.changes_kept IS 'these, and those that a publish has absorbed and bloom_rollback may need';
COMMENT ON COLUMN bloom_published.contradicted IS 'changes that the query of a tracked exact list said otherwise when it was published: rows were changed without the trigger, or bloom_change said other than the query; NULL for other lists';

-- The query of a list runs as the list's owner, whoever calls.  EXECUTE on bloom_publish is the right to
-- make lists; of lists that are there the owner decides.

CREATE PROCEDURE bloom_publish(
	name text,
	query text,
	n bigint DEFAULT NULL,
	p double precision DEFAULT NULL,
	parts integer DEFAULT NULL,
	seed bigint DEFAULT NULL,
	"check" boolean DEFAULT true,
	allow_empty boolean DEFAULT false,
	allow_shrink boolean DEFAULT false,
	allow_type_change boolean DEFAULT false,
	on_conflict boolean DEFAULT NULL,
	verbose boolean DEFAULT false
)
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_query' LANGUAGE C;
COMMENT ON PROCEDURE bloom_publish(text, text, bigint, double precision, integer, bigint, boolean, boolean, boolean, boolean, boolean, boolean) IS 'builds a filter of a query''s keys, checks it and publishes it as a list';

CREATE PROCEDURE bloom_refresh(name text, allow_shrink boolean DEFAULT false, verbose boolean DEFAULT false)
	AS 'MODULE_PATHNAME', 'bloomfilter_refresh' LANGUAGE C;
COMMENT ON PROCEDURE bloom_refresh(text, boolean, boolean) IS 'publishes a list again by its query, which runs as the list''s owner';

-- Functions, since PostgreSQL takes no subquery as an argument of CALL.

CREATE FUNCTION bloom_publish_filter(name text, filter bloomfilter, allow_shrink boolean DEFAULT false, allow_type_change boolean DEFAULT false) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_filter' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_publish_filter(text, bloomfilter, boolean, boolean) IS 'publishes a filter as a list and returns its serial';

CREATE FUNCTION bloom_publish_filter(name text, filters bloomfilter[], allow_shrink boolean DEFAULT false, allow_type_change boolean DEFAULT false) RETURNS bigint
	AS 'MODULE_PATHNAME', 'bloomfilter_publish_filters' LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION bloom_publish_filter(text, bloomfilter[], boolean, boolean) IS 'publishes a set of filters, all its parts, as a list and returns its serial';

CREATE PROCEDURE bloom_rollback(name text)
	AS 'MODULE_PATHNAME', 'bloomfilter_rollback' LANGUAGE C;
COMMENT ON PROCEDURE bloom_rollback(text) IS 'brings the generation before back, once';

CREATE PROCEDURE bloom_drop(name text)
	AS 'MODULE_PATHNAME', 'bloomfilter_drop' LANGUAGE C;
COMMENT ON PROCEDURE bloom_drop(text) IS 'removes a list';

CREATE PROCEDURE bloom_alter(
	name text,
	n bigint DEFAULT NULL,
	p double precision DEFAULT NULL,
	max_shrink double precision DEFAULT NULL,
	owner name DEFAULT NULL
)
	AS 'MODULE_PATHNAME', 'bloomfilter_alter' LANGUAGE C;
COMMENT ON PROCEDURE bloom_alter(text, bigint, double precision, double precision, name) IS 'changes how a list is published from the next run on, or whose it is';

CREATE PROCEDURE bloom_set_identity(name text, identity uuid)
	AS 'MODULE_PATHNAME', 'bloomfilter_set_identity' LANGUAGE C;
COMMENT ON PROCEDURE bloom_set_identity(text, uuid) IS 'gives a list the identity by which its followers know it';

-- Like bloom_explain(list, key) it is only for those who may read the filters.
CREATE FUNCTION bloom_explain(list text, type text, key bytea) RETURNS text
	AS 'MODULE_PATHNAME', 'bloomfilter_explain_bytes' LANGUAGE C STABLE STRICT PARALLEL SAFE COST 1000;
COMMENT ON FUNCTION bloom_explain(text, text, bytea) IS 'what bloom_lookup of the key with these bytes computes and sees';
