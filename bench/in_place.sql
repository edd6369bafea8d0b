-- in_place.sql: what one bloom_add costs in a loop of PL/pgSQL, by the filter's size.
--
--	psql -f bench/in_place.sql
--
-- Up to PostgreSQL 17 each call copies the filter; from 18 on the variable's own is
-- changed. "copy" is a call that must copy on every major, of the same filter.
\set QUIET 1
\pset format aligned
set client_min_messages = warning;
create extension if not exists bloomfilter;

create function pg_temp.microseconds_of_add(n bigint, calls int) returns numeric language plpgsql as $$
declare
	f bloomfilter := bloom_create(n);
	started timestamptz := clock_timestamp();
begin
	for i in 1 .. calls loop
		f := bloom_add(f, i);
	end loop;
	return extract(epoch from clock_timestamp() - started) * 1e6 / calls;
end $$;

create function pg_temp.microseconds_of_copy(n bigint, calls int) returns numeric language plpgsql as $$
declare
	f bloomfilter := bloom_add(bloom_create(n), 0);
	g bloomfilter;
	started timestamptz := clock_timestamp();
begin
	for i in 1 .. calls loop
		g := bloom_add(f, i);
	end loop;
	return extract(epoch from clock_timestamp() - started) * 1e6 / calls;
end $$;

select current_setting('server_version') as server, pg_size_pretty(s.bytes) as filter,
	round(pg_temp.microseconds_of_add(n, calls), 2) as "bloom_add, us",
	round(pg_temp.microseconds_of_copy(n, calls), 2) as "copy, us"
from (values (1000::bigint, 1000), (100000, 5000), (1000000, 1000), (10000000, 200)) v(n, calls)
cross join lateral bloom_sizing(n, 0.01) s;
