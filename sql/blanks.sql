-- The blanks at the end of a text are no part of the key, however it is stored and looked up.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
set client_encoding = 'UTF8';

create temp table spelled as
  select base, base || repeat(' ', blanks) as spelling
  from unnest('{"", ab, Größe, 漢字, " x y"}'::text[]) base, unnest('{0, 1, 7, 300}'::int[]) blanks;
create temp table filters as
  select base, bloom_agg(spelling, 1, 1e-12) as of_text, bloom_agg(spelling::varchar, 1, 1e-12) as of_varchar,
         bloom_agg(spelling::char(400), 1, 1e-12) as of_char, bloom_agg(spelling::name, 1, 1e-12) as of_name,
         bloom_agg(spelling::bloom_key, 1, 1e-12) as of_untyped,
         bloom_add(bloom_create(1, 1e-12), min(spelling)) as of_add,
         bloom_add_all(bloom_create(1, 1e-12), array_agg(spelling::char(400))) as of_all,
         bloom_part_agg(spelling, 1, 1, 1e-12) as of_part
  from spelled
  group by base;

-- one key each, and the same bytes by every way of building
select base, bloom_cardinality(of_text) as keys, of_text = of_varchar and of_text = of_char and of_text = of_name
       and of_text = of_untyped and of_text = of_add and of_text = of_all and of_text = of_part as same_bytes
from filters order by base collate "C";

-- every spelling is found in every way, and returned as it came
select count(*) as asked,
  count(*) filter (where of_text @> spelling) as text,
  count(*) filter (where spelling::varchar <@ of_char) as varchar,
  count(*) filter (where bloom_contains(of_name, spelling::char(400))) as char,
  count(*) filter (where of_add @> spelling::name) as name,
  count(*) filter (where of_all @> spelling::bloom_key) as untyped,
  count(*) filter (where bloom_contains_each(of_text, array[spelling, 'no', null]) = '{t,f,null}') as each,
  count(*) filter (where bloom_contains_each(of_text, ('{"' || spelling || '"}')::bloom_key) = '{t}') as each_untyped,
  count(*) filter (where bloom_hash(spelling, 7) = bloom_hash(base, 7)) as hash,
  count(*) filter (where bloom_part(spelling, 1000) = bloom_part(base, 1000)) as part,
  count(*) filter (where bloom_hash(row(7, spelling)) = bloom_hash(row(7, base::char(400)))) as row
from spelled join filters using (base);
select bloom_agg(row(7, 'ab  '::text)) @> row(7, 'ab'), bloom_agg(row(7, 'ab')) @> row(7, 'ab   ') from generate_series(1, 1);

-- literals without a type, as drivers hand back what they read
select f @> 'ab      ', f @> 'ab      '::varchar, f @> 'ab', f @> 'ab x' from (select bloom_agg('ab'::char(8)) f) s;
-- joins that SQL makes without the blanks lose no row
create temp table of_varchar (v varchar(20));
insert into of_varchar values ('ab  '), ('cd'), ('ef   ');
create temp table of_char (c char(8));
insert into of_char values ('ab'), ('cd'), ('ef');
select count(*), count(*) filter (where (select bloom_agg(v) from of_varchar) @> c),
       count(*) filter (where (select bloom_agg(c) from of_char) @> v) from of_varchar join of_char on v = c;

-- only U+0020, only at the end, and not in bytea
select other, f @> other as found from (select bloom_agg('a'::text, 1, 1e-12) f) s,
  unnest(array[' a', E'a\t', E'a\r', E'a\n', E'a \t', U&'a\00a0', U&'a \00a0', U&'a\2002', U&'a\3000', E'a\x0b ', 'a .']) other
  where f @> other;
select bloom_agg('a'::bytea, 1, 1e-12) @> 'a '::bytea as bytea, bloom_agg('a '::bytea, 1, 1e-12) @> 'a '::bytea as itself,
       bloom_agg('a '::bytea, 1, 1e-12) = bloom_agg('a'::bytea, 1, 1e-12) as same;

-- lists and live indexes
create table regress_blanks (c char(8), v varchar(20));
insert into regress_blanks values ('ab', 'ab   '), ('', ' '), ('x', 'x');
select bloom_publish_filter('regress blanks', bloom_agg(v)) is not null as published from regress_blanks;
select bloom_lookup('regress blanks', 'ab'), bloom_lookup('regress blanks', 'ab '), bloom_lookup('regress blanks', ''),
       bloom_lookup('regress blanks', c) and bloom_lookup('regress blanks', v), bloom_lookup('regress blanks', 'ac '),
       bloom_lookup_each('regress blanks', array['ab     ', 'no', 'x ']) from regress_blanks where c = 'ab';
create index regress_blanks_c on regress_blanks using bloomfilter (c) with (n = 100, p = 1e-9);
create index regress_blanks_v on regress_blanks using bloomfilter (v) with (n = 100, p = 1e-9);
insert into regress_blanks values ('later', 'later ');
select bool_and(bloom_index_contains('regress_blanks', 'c', c) and bloom_index_contains('regress_blanks', 'c', v)
                and bloom_index_contains('regress_blanks', 'v', c) and bloom_index_contains('regress_blanks', 'v', v))
from regress_blanks;
select bloom_index_contains('regress_blanks_c', 'ab      '), bloom_index_contains('regress_blanks', 'v', 'later'),
       bloom_index_contains('regress_blanks', 'v', E'later\t'), bloom_index_verify('regress_blanks_c'), bloom_index_verify('regress_blanks_v');
drop table regress_blanks;
do $$ begin call bloom_drop('regress blanks'); end $$;

-- In other encodings a blank is a blank, too, beside characters of several bytes: the same hash as in UTF-8.
\set home :DBNAME
\set same 'select count(distinct bloom_hash(k, 7)) as hashes, min(bloom_hash(k, 7)) = (:expected) as as_in_utf8, bool_and(bloom_agg_of @> k and bloom_agg_of @> k::char(40)) as found from (select k, bloom_add(bloom_create(9, 1e-12), :word || ''  '') as bloom_agg_of from unnest(array[:word, :word || '' '', :word || repeat('' '', 30)]) k) s'
select bloom_hash('Größe'::text, 7) as latin1, bloom_hash('漢字'::text, 7) as euc_jp \gset

create database regress_bloom_latin1 template template0 encoding 'LATIN1' lc_collate 'C' lc_ctype 'C';
\c regress_bloom_latin1
create extension bloomfilter;
set client_encoding = 'UTF8';
\set word '''Größe''::text'
\set expected :latin1
:same;
\c :home
drop database regress_bloom_latin1;

create database regress_bloom_euc_jp template template0 encoding 'EUC_JP' lc_collate 'C' lc_ctype 'C';
\c regress_bloom_euc_jp
create extension bloomfilter;
set client_encoding = 'UTF8';
\set word '''漢字''::text'
\set expected :euc_jp
:same;
-- one character, two codes, two rows: no key of a tracked list, whose other row would go with it
create table twice as select convert_from(b, 'EUC_JP')::char(4) as w from unnest('{"\\xa2e8", "\\xadfa"}'::bytea[]) b;
create unique index on twice (w);
call bloom_publish('twice', 'select w from twice');
call bloom_track('twice', 'twice', 'w');
delete from twice where w <> rtrim(convert_from(convert_to(w, 'UTF8'), 'UTF8'));
call bloom_track('twice', 'twice', 'w');
insert into twice values (convert_from('\xadfa', 'EUC_JP'));
\c :home
drop database regress_bloom_euc_jp;

-- without an encoding the bytes must be UTF-8
create database regress_bloom_sql_ascii template template0 encoding 'SQL_ASCII' lc_collate 'C' lc_ctype 'C';
\c regress_bloom_sql_ascii
create extension bloomfilter;
:same;
select bloom_hash(E'\xe4  '::text);
\c :home
drop database regress_bloom_sql_ascii;
