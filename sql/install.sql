-- What the extension brings, and that it works in any schema.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

create temp view member as
  select classid, objid, pg_describe_object(classid, objid, objsubid) as description
  from pg_depend
  where refclassid = 'pg_extension'::regclass and deptype = 'e'
    and refobjid = (select oid from pg_extension where extname = 'bloomfilter');

-- the SQL surface: every function and aggregate that a user calls
select case prokind when 'a' then 'aggregate ' when 'p' then 'procedure ' else '' end || proname
       || '(' || regexp_replace(pg_get_function_arguments(p.oid), '\mIN ', '', 'g') || ')'
       || coalesce(' -> ' || pg_get_function_result(p.oid), '') as surface
from member m join pg_proc p on m.classid = 'pg_proc'::regclass and p.oid = m.objid
where proname ~ '^bloom_' and proname !~ '_(transfn|combine|serialize|deserialize|finalfn|support|sel|joinsel|in|out|recv|send)$'
order by prokind = 'a', proname, regexp_replace(pg_get_function_arguments(p.oid), '\mIN ', '', 'g') collate "C";
-- tables and views
select relname, relkind, string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' order by attnum) as columns
from member m join pg_class c on m.classid = 'pg_class'::regclass and c.oid = m.objid
     join pg_attribute a on a.attrelid = c.oid and attnum > 0
group by 1, 2 order by 2, 1;
-- those with data are dumped
select c::regclass from pg_extension, unnest(extconfig) c where extname = 'bloomfilter' order by 1::text;
-- the operators
select oprname, oprleft::regtype as "left", oprright::regtype as "right", oprresult::regtype as result,
       oprcode::oid::regproc as function, (select c.oprname from pg_operator c where c.oid = o.oprcom) as commutator,
       (select n.oprname from pg_operator n where n.oid = o.oprnegate) as negator
from member m join pg_operator o on m.classid = 'pg_operator'::regclass and o.oid = m.objid
order by 1, 2::text, 3::text;
-- the casts are explicit
select castsource::regtype as source, casttarget::regtype as target, castcontext as context, castmethod as method
from member m join pg_cast c on m.classid = 'pg_cast'::regclass and c.oid = m.objid order by castsource::regtype::text collate "C";
-- the type is stored out of line and not compressed
select typstorage, typalign, typlen, typcategory, typispreferred from pg_type where typname = 'bloomfilter';
-- an equality by hash, and no order: nothing sorts filters
select opcname, amname, opcdefault from pg_opclass, pg_am am where opcmethod = am.oid and opcintype = 'bloomfilter'::regtype;
-- every object has a comment (types of arrays and rows are objects of their own from 18 or 17 on)
select description from member where description !~ '\[\]$' and description !~ '^type bloom_(absorbed|change|definition|generation|list|live|owner|published|run)' and obj_description(objid, classid::regclass::name) is null order by description collate "C";
-- every function is parallel safe and immutable, except
select provolatile, proparallel, string_agg(proname, ' ' order by proname)
from member m join pg_proc p on m.classid = 'pg_proc'::regclass and p.oid = m.objid
where proparallel <> 's' or provolatile <> 'i' group by 1, 2 order by 1, 2;
-- every function is strict, except those that have something to do with a NULL
select string_agg(distinct proname, ' ' order by proname)
from member m join pg_proc p on m.classid = 'pg_proc'::regclass and p.oid = m.objid
where not proisstrict and prokind = 'f';
-- every aggregate has what a parallel plan needs
select m.description from member m join pg_aggregate a on m.classid = 'pg_proc'::regclass and a.aggfnoid::oid = m.objid
where aggcombinefn = 0 or (aggtranstype = 'internal'::regtype and (aggserialfn = 0 or aggdeserialfn = 0));
-- no function runs as another user or has settings, or leaves to its caller the types of what it returns: a number would be read as a pointer
select proname from member m join pg_proc p on m.classid = 'pg_proc'::regclass and p.oid = m.objid
where prosecdef or proconfig is not null or (prorettype = 'record'::regtype and proallargtypes is null);

-- the settings, known once the library is loaded
select bloom_hash(1) is not null as loaded;
select name, setting, unit, vartype, context, enumvals from pg_settings where name like 'bloomfilter.%' order by 1;

select array_agg(description order by description collate "C") as members from member \gset
drop extension bloomfilter;
-- The number of rows of each catalog that belongs to this database alone.
create function pg_temp.catalogs() returns text language sql as $$
  select string_agg(relname || (xpath('//rows/text()', query_to_xml(format('select count(*) as rows from %s', oid::regclass), false, true, '')))[1]::text, ' ' order by relname)
  from pg_class where relnamespace = 'pg_catalog'::regnamespace and relkind = 'r' and not relisshared and relname not in ('pg_statistic', 'pg_statistic_ext_data')
$$;
-- The second version fails here until it brings a test: a database that was updated has the catalogs of a fresh install, which
-- test/upgrade/catalog.sql prints, and filters keep bytes and answers.
select version from pg_available_extension_versions where name = 'bloomfilter';

-- it works in a schema of its own, with only pg_catalog in the search path
create schema bloom_home;
select pg_temp.catalogs() as without \gset
create extension bloomfilter schema bloom_home;
select array_agg(replace(description, 'bloom_home.', '') order by replace(description, 'bloom_home.', '') collate "C")
       = :'members' as same_members from member;
create function bloom_home.check_all() returns boolean language plpgsql set search_path = pg_catalog as $$
declare
  s text := (select extnamespace::regnamespace from pg_extension where extname = 'bloomfilter');
  answer boolean;
begin
  execute format('select f operator(%1$s.@>) 7 and f operator(%1$s.@>) any (array[1, 2])
      and %1$s.bloom_contains(t, ''x'') and ''x'' operator(%1$s.<@) t
      and %1$s.bloom_contains_each(f, array[1]) = array[true]
      and (%1$s.bloom_union(f, f)) operator(%1$s.=) (f operator(%1$s.|) f)
      and %1$s.bloom_cardinality(f) between 95 and 105 and (%1$s.bloom_stats(f)).n = 100
      and (f::text)::%1$s.bloomfilter operator(%1$s.=) f
      and (f::bytea)::%1$s.bloomfilter operator(%1$s.=) f
      and %1$s.bloom_publish_filter(''check'', f) > 0
    from (select %1$s.bloom_agg(k, 100), %1$s.bloom_agg(k::text || ''x'') from generate_series(1, 100) k) s(f, u),
         (select %1$s.bloom_add(%1$s.bloom_create(10), ''x'')) v(t)', s) into answer;
  execute format('select $1 and %1$s.bloom_lookup(''check'', 7) and %1$s.bloom_lookup_each(''check'', array[1, 2]) = ''{t,t}''
      and count(*) filter (where not %1$s.bloom_lookup(''check'', k)) = 0 from generate_series(1, 100) k', s) into answer using answer;
  return answer;
end $$;
select bloom_home.check_all();
-- it can be moved, also to a schema whose name needs quotes
create schema "a""b; select";
alter extension bloomfilter set schema "a""b; select";
select bloom_home.check_all();
alter extension bloomfilter set schema bloom_home;
select bloom_home.check_all();
drop function bloom_home.check_all();
drop schema "a""b; select";
-- dropping it takes lists along, not what others have made of it; it leaves nothing
create table used (id int, filter bloom_home.bloomfilter);
create index used_live on used using bloomfilter (id);
drop extension bloomfilter;
drop extension bloomfilter cascade;
select attname from pg_attribute where attrelid = 'used'::regclass and attnum > 0 and not attisdropped;
drop table used;
select pg_temp.catalogs() = :'without' as nothing_left;

-- it does not take over an object that was there before
create function bloom_home.bloom_cardinality(text) returns int language sql as 'select 1';
create function bloom_home.bloom_hash(key anyelement, seed bigint default 0) returns bigint language sql as 'select 1';
do $$
begin
  create extension bloomfilter schema bloom_home;
exception when duplicate_function then
  raise warning 'refused: %', sqlstate;
end $$;
drop schema bloom_home cascade;

-- whoever may create in the database can install it
create role regress_bloom_owner;
set role regress_bloom_owner;
create extension bloomfilter;
reset role;
do $$ begin execute format('grant create on database %I to regress_bloom_owner', current_database()); end $$;
-- even where another role's schema is; nobody is told of himself
create schema regress_bloom_schema;
grant all on schema regress_bloom_schema to regress_bloom_owner with grant option;
select pg_temp.catalogs() as without \gset
set role regress_bloom_owner;
create extension bloomfilter schema regress_bloom_schema;
select regress_bloom_schema.bloom_contains(regress_bloom_schema.bloom_agg(k, 10), 1) from generate_series(1, 10) k;
-- what runs with C code is not theirs
reset role;
select count(*) from member m join pg_proc p on m.classid = 'pg_proc'::regclass and p.oid = m.objid where proowner = 'regress_bloom_owner'::regrole;
set role regress_bloom_owner;
-- and may do all with lists, and let others
call regress_bloom_schema.bloom_publish('ten', 'SELECT k FROM generate_series(1, 10) k');
select name, regress_bloom_schema.bloom_lookup('ten', 1) from regress_bloom_schema.bloom_published;
grant usage on schema regress_bloom_schema to public;
grant execute on function regress_bloom_schema.bloom_lookup(text, anyelement) to public;
grant select on regress_bloom_schema.bloom_list_part to public;
-- and drop it
drop extension bloomfilter;
reset role;
select pg_temp.catalogs() = :'without' as nothing_left;
drop schema regress_bloom_schema;
do $$ begin execute format('revoke create on database %I from regress_bloom_owner', current_database()); end $$;
drop role regress_bloom_owner;

create extension bloomfilter;
