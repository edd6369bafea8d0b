-- What a look-up computes and sees: of a value, a list, a part, and a live index.  The golden
-- lines of values are in vectors_filters.sql; test/cross compares all readers' with these.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql

-- a value that was just made, stored, and sliced by TOAST: the same lines
create temp table regress_explained as select bloom_agg(k, 40000, 0.01) as f from generate_series(1, 20000) k;
select bloom_explain(f, 42) from regress_explained;
select bloom_explain(f, 42) = bloom_explain(f, '42'), bloom_explain(f, 42) = bloom_explain(f::text::bloomfilter, 42::smallint),
       bloom_explain(f, 42) = (select bloom_explain(bloom_agg(k, 40000, 0.01), 42) from generate_series(1, 20000) k) from regress_explained;
-- its answer is that of a look-up, its probes are all 1 for a key that is found
select count(*) as asked, count(*) filter (where found) as found, count(*) filter (where found <> (x ~ 'answer    true$')) as wrong,
       count(*) filter (where found <> (x !~ '=0')) as wrong_probes
from (select f @> k as found, bloom_explain(f, k) x from regress_explained, generate_series(19901, 20100) k) s;
-- kinds, blanks at the end, the empty key, a long one, rows, no keys yet
select bloom_explain(bloom_agg('ab  '::char(8), 10), 'ab   ') from generate_series(1, 1);
select bloom_explain(bloom_agg(''::text, 10), '  ') from generate_series(1, 1);
select substring(bloom_explain(bloom_agg(repeat('x', 1000), 10), repeat('x', 1000)) from 'length.*\.\.\.') from generate_series(1, 1);
select bloom_explain(bloom_agg(row(7, 'x'::text), 10), row('7', 'x ')) from generate_series(1, 1);
select bloom_explain(bloom_create(10), 'x');
-- a part, asked for its own key and for another's
select bloom_explain(bloom_create_part(2, 3, 10), 42), bloom_explain(bloom_create_part(1, 3, 10), 42);
-- a key of another kind is an error, as for a look-up
\set VERBOSITY terse
select bloom_explain(f, 'x') from regress_explained;
select bloom_explain(f, 1.5) from regress_explained;
select bloom_explain(f, null::int) is null from regress_explained;

-- a list, of parts
select bloom_publish_filter('regress explained', array_agg(f order by p)) > 0 from (
  select bloom_part(k, 3) as p, bloom_part_agg(k, 3, 1000, 0.01) as f from generate_series(1, 1000) k group by 1) s;
select bloom_explain('regress explained', 42), bloom_explain('regress explained', 42) = bloom_explain('regress explained'::text, '42');
select count(*) filter (where bloom_explain('regress explained', k) ~ 'answer    true$' <> bloom_lookup('regress explained', k)) as wrong from generate_series(950, 1050) k;
select bloom_explain('regress no such list', 42);
-- by the bytes that another program has of a key, in lists of all kinds: the same
select bloom_explain('regress explained', 'integer', '\x2a00000000000000') = bloom_explain('regress explained', 42) as same;
select bloom_publish_filter('regress explained text', (select bloom_agg(x, 10) from (values ('ab'), ('')) v(x))) > 0,
       bloom_publish_filter('regress explained row', (select bloom_agg(row(7, 'x'::text), 10))) > 0,
       bloom_publish_filter('regress explained none', bloom_create(10)) > 0;
select bloom_explain('regress explained text', 'text', x) = bloom_explain('regress explained text', t) as same
from (values ('\x6162'::bytea, 'ab'::text), ('\x61622020', 'ab'), ('', '')) v(x, t);
select bloom_explain('regress explained row', 'row', '\x01080000000700000000000000020100000078') = bloom_explain('regress explained row', row(7, 'x'::text)) as same,
       bloom_explain('regress explained none', 'uuid', uuid_send('00000000-0000-0000-0000-000000000001')) = bloom_explain('regress explained none', '00000000-0000-0000-0000-000000000001'::uuid) as same;
create table regress_explained_changed (k int primary key, member boolean);
insert into regress_explained_changed select k, k % 2 = 0 from generate_series(1, 100) k;
call bloom_publish('regress explained exact', 'select k, member from regress_explained_changed');
call bloom_publish('regress explained tracked', 'select k from regress_explained_changed where member');
call bloom_track('regress explained tracked', 'regress_explained_changed', 'k', 'member');
update regress_explained_changed set member = not member where k in (42, 43);
select k, l, bloom_explain(l, 'integer', decode(to_hex(k) || '00000000000000', 'hex')) = x as same, substring(x from 'change +[a-z]+') as change, substring(x from 'answer.*')
from (select k, l, bloom_explain(l, k) as x from (values ('regress explained exact'), ('regress explained tracked')) v(l), unnest(array[42, 43, 44]) k) s order by 2, 1;
-- what is no key, and a key of another kind
select arguments, pg_temp.error_of(format('select bloom_explain(%s)', arguments)) from (values
  ('''regress explained'', ''real'', ''\x00000000'''), ('''regress explained'', ''integer'', ''\x2a'''), ('''regress explained'', ''text'', ''\x61'''),
  ('''regress explained row'', ''row'', ''\x020100000078'''), ('''regress no such list'', ''integer'', ''\x2a00000000000000''')) v(arguments);
-- it shows bits and the seed: not to everybody who may look up
create role regress_explain_reader;
grant execute on function bloom_lookup(text, anyelement), bloom_explain(text, anyelement) to regress_explain_reader;
set role regress_explain_reader;
select bloom_lookup('regress explained', 42);
select bloom_explain('regress explained', 42);
select bloom_explain('regress explained', 'integer', '\x2a00000000000000');
select bloom_explain('regress no such list', 'integer', '\x2a00000000000000');
reset role;
revoke all on function bloom_lookup(text, anyelement), bloom_explain(text, anyelement) from regress_explain_reader;
call pg_temp.drop_lists();
drop table regress_explained_changed;

-- a live index, page by page: those that overflowed, too
create table regress_explained_live (k int);
create index regress_explained_k on regress_explained_live using bloomfilter (k) with (n = 100, p = 0.01);
insert into regress_explained_live select generate_series(1, 42);
select bloom_index_explain('regress_explained_k', 42), bloom_index_explain('regress_explained_k', '43');
insert into regress_explained_live select generate_series(43, 40000);
select bloom_index_explain('regress_explained_k', 42);
-- the answer is that of a look-up; a key that is found has all bits in a page of one level
select count(*) filter (where found) > 400 as found, count(*) filter (where found <> (x ~ 'answer    true$')) as wrong,
       count(*) filter (where found <> exists (select from regexp_matches(x, 'probes[^\n]*', 'g') p where p[1] !~ '=0')) as wrong_probes,
       max((select max(l[1]::int) from regexp_matches(x, 'level     (\d+)', 'g') l)) > 0 as overflowed
from (select bloom_index_contains('regress_explained_k', k) as found, bloom_index_explain('regress_explained_k', k) x
      from generate_series(1, 60000, 83) k) s;
select bloom_index_explain('regress_explained_live', 1);
set role regress_explain_reader;
select bloom_index_explain('regress_explained_k', 42);
reset role;
drop table regress_explained_live;
-- a partitioned index has no pages to be shown
create table regress_explained_parted (k int) partition by range (k);
create table regress_explained_low partition of regress_explained_parted for values from (0) to (10);
create table regress_explained_high partition of regress_explained_parted for values from (10) to (20);
create index regress_explained_all on regress_explained_parted using bloomfilter (k);
select bloom_index_contains('regress_explained_all', 5), bloom_index_explain('regress_explained_all', 5);
drop table regress_explained_parted;
drop role regress_explain_reader;
