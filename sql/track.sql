-- The trigger by which each change of a table is a change of a list: what it records, and what it
-- refuses since a key that is in could be denied.
\i `echo $PG_ABS_SRCDIR`/sql/lib/begin.sql
\set VERBOSITY terse

create function changes(list text) returns text language sql as $$
  select string_agg(convert_from(substr(key, 5), 'UTF8') || case when value then '+' else '-' end, ' ' order by key) from bloom_change where name = list
$$;
create function triggers(list text, relation regclass, variadic columns text[]) returns void language plpgsql as $$
begin
  execute format('create trigger track after insert or update or delete on %s for each row execute function bloom_change_trigger(%L, %s)',
    relation, list, (select string_agg(quote_literal(c), ', ') from unnest(columns) c));
  execute format('create trigger no_truncate before truncate on %s for each statement execute function bloom_change_trigger(%L)', relation, list);
end $$;

create table word (w text primary key, on_it boolean, note text);
insert into word values ('a', true), ('b', false), ('c', null), ('d', true);
call bloom_publish('word', 'select w, on_it from word', p => 1e-9);

-- Changes count from the first publish after the triggers are there.
select triggers('word', 'word', 'w', 'on_it');
update word set on_it = false where w = 'a';
select changes('word'), bloom_lookup('word', 'a');
select bloom_change('word', 'a', true);
call bloom_track('word');
select changes('word'), bloom_lookup('word', 'a');
select bloom_change('word', 'x', true), bloom_change('word', null, true), bloom_change('word', null::text, null);
select bloom_change('word', 'x'::text, true), bloom_change('word', null::text, true);
select bloom_change('word', 1, true);
select bloom_change('nowhere', 1, true);
select bloom_change(null, 1, true);
select bloom_lookup('word', 'x'), bloom_lookup_each('word', array['a', 'x', null, 'd']);
call bloom_refresh('word'); call bloom_refresh('word'); call bloom_refresh('word');
select changes('word'), bloom_lookup('word', 'x');

-- What is recorded: only keys whose answer changes, the old key before the new one.
update word set note = 'n';
update word set on_it = null where w = 'b';
select changes('word');
insert into word values ('e', true), ('f', null), ('g', false);
delete from word where w = 'd';
select changes('word');
update word set w = 'h' where w = 'e';
select changes('word');
-- Two rows change keys.
begin;
update word set w = 'tmp' where w = 'h';
update word set w = 'h', on_it = true where w = 'f';
update word set w = 'f' where w = 'tmp';
commit;
select changes('word'), bloom_lookup_each('word', array['e', 'f', 'g', 'h', 'tmp']);
insert into word values ('h', false), ('i', true) on conflict (w) do update set on_it = excluded.on_it;
select changes('word');
with gone as (delete from word where w = 'i' returning *) insert into word select 'j', on_it from gone;
with gone as (delete from word where w = 'j' returning *) insert into word select 'i', on_it from gone;
begin; delete from word where w = 'i'; insert into word values ('i', true);
savepoint one; delete from word where w = 'i';
select bloom_lookup('word', 'i');
rollback to one;
select bloom_lookup('word', 'i');
commit;
merge into word using (values ('i', false), ('k', true)) v (w, on_it) on word.w = v.w
  when matched then update set on_it = v.on_it when not matched then insert values (v.w, v.on_it);
copy word from stdin;
l	t	copied
\.
select changes('word');
select w, on_it from word where bloom_lookup('word', w) is distinct from coalesce(on_it, false);
select regexp_replace(bloom_explain('word', 'l'), '^.*(?=change)|\d{10,}', '', 'g');

-- Triggers that change the row or stop it come before.
create function before_word() returns trigger language plpgsql as $$
begin
  if new.w = 'stop' then return null; end if;
  new.w := lower(new.w);
  return new;
end $$;
create trigger before_word before insert or update on word for each row execute function before_word();
insert into word values ('stop', true), ('UP', true);
select bloom_lookup_each('word', array['stop', 'UP', 'up']);
drop trigger before_word on word;

-- Other triggers and functions change rows again before the statement ends, and with it before this trigger fires.
create table seesaw (k int primary key, v boolean, note text);
create function seesaw_wrong() returns bigint language sql as $$ select count(*) from seesaw where bloom_lookup('seesaw', k) is distinct from v $$;
create function seesaw_again() returns trigger language plpgsql as $$ begin execute tg_argv[0] using old; return null; end $$;
insert into seesaw select g, true from generate_series(1, 9) g;
call bloom_publish('seesaw', 'select k, v from seesaw', p => 1e-9);
call bloom_track('seesaw', 'seesaw', 'k', 'v');
-- The same row, and another row of the statement.
create trigger a after update on seesaw for each row when (not new.v and new.k = 1) execute function seesaw_again('update seesaw set v = true where k in (1, 2)');
update seesaw set v = false where k < 4;
select seesaw_wrong(), bloom_lookup_each('seesaw', array[1, 2, 3]);
drop trigger a on seesaw;
-- A column that the list doesn't have.
create trigger a after update on seesaw for each row when (new.note is null) execute function seesaw_again('update seesaw set note = $$x$$ where k = $1.k');
update seesaw set v = not v;
select seesaw_wrong();
drop trigger a on seesaw;
-- A row that is there again, one that is gone, one that has another's key.
create trigger a after delete on seesaw for each row when (old.k < 6) execute function seesaw_again('insert into seesaw values ($1.k, true)');
delete from seesaw where k between 5 and 6;
select seesaw_wrong(), bloom_lookup_each('seesaw', array[5, 6]);
drop trigger a on seesaw;
create trigger a after update on seesaw for each row when (new.k = 7) execute function seesaw_again('delete from seesaw where k = $1.k');
update seesaw set v = true where k = 7;
select seesaw_wrong(), bloom_lookup('seesaw', 7);
drop trigger a on seesaw;
create trigger a after update on seesaw for each row when (old.k = 8) execute function seesaw_again('insert into seesaw values (8, true)');
update seesaw set k = 18 where k = 8;
select seesaw_wrong(), bloom_lookup_each('seesaw', array[8, 18]);
drop trigger a on seesaw;
-- A function of the statement itself.
create function seesaw_of(which int) returns boolean language plpgsql as $$ begin update seesaw set v = true where k = which - 1; return false; end $$;
update seesaw set v = true;
update seesaw set v = seesaw_of(k) where k in (1, 2);
select seesaw_wrong(), bloom_lookup_each('seesaw', array[1, 2]);
call bloom_drop('seesaw');
drop table seesaw;
drop function seesaw_wrong(), seesaw_again(), seesaw_of(int);

-- A column that gets another type: the list has keys of the old one until it is published so.
create table typed (k bigint primary key);
insert into typed values (1);
call bloom_publish('typed', 'select k from typed');
call bloom_track('typed', 'typed', 'k');
alter table typed alter k type numeric;
select pg_temp.error_of('insert into typed values (2)');
call bloom_publish('typed', 'select k from typed', allow_type_change => true);
insert into typed values (2);
select bloom_lookup_each('typed', array[1, 2.0]);
call bloom_drop('typed');
drop table typed;

-- Another table takes the name of the one that is tracked.
create table swap (k int primary key);
create table swap_next (k int primary key);
insert into swap values (1);
insert into swap_next values (1), (2);
call bloom_publish('swap', 'select k from swap');
call bloom_track('swap', 'swap', 'k');
alter table swap rename to swap_old;
alter table swap_next rename to swap;
call bloom_refresh('swap');
call bloom_track('swap', 'swap', 'k');
call bloom_untrack('swap');
call bloom_track('swap', 'swap', 'k');
truncate swap_old;
insert into swap values (3);
select bloom_lookup_each('swap', array[1, 2, 3]);
call bloom_drop('swap');
drop table swap, swap_old;

-- Rows of logical replication: triggers that are fired always stay so, and TRUNCATE is refused then, too.
create table copied (k int primary key);
call bloom_publish('copied', 'select k from copied', allow_empty => true);
call bloom_track('copied', 'copied', 'k');
alter table copied enable always trigger bloom_change_copied;
insert into copied values (1);
alter table copied enable always trigger bloom_truncate_copied;
call bloom_track('copied', 'copied', 'k');
set session_replication_role = replica;
insert into copied values (1);
truncate copied;
reset session_replication_role;
select bloom_lookup('copied', 1);
call bloom_drop('copied');
drop table copied;

-- A name of many letters, of more than one byte each.
select 'a' || repeat('ü', 40) as long \gset
create table long (k int primary key);
insert into long values (1);
call bloom_publish(:'long', 'select k from long');
call bloom_track(:'long', 'long', 'k');
select convert_from(convert_to(tgname, 'UTF8'), 'UTF8') from pg_trigger where tgrelid = 'long'::regclass order by 1;
call bloom_untrack(:'long');
select count(*) from pg_trigger where tgrelid = 'long'::regclass;
call bloom_drop(:'long');
drop table long;

-- No trigger sees a virtual column, which PostgreSQL 18 has.
create function refuses_virtual() returns boolean language plpgsql as $$
begin
  if current_setting('server_version_num')::int < 180000 then return true; end if;
  execute 'create table unseen (k text primary key, gone date, here boolean generated always as (gone is null) virtual)';
  perform triggers('word', 'unseen', 'k', 'here');
  insert into unseen values ('a');
  return false;
exception when feature_not_supported then return true;
end $$;
select refuses_virtual();
drop function refuses_virtual();

-- 'pw' and 'pw ' are two rows and one key.
insert into word values ('pw ', true);
insert into word values ('pw', true);
alter table word disable trigger track;
insert into word values ('pw ', true);
alter table word enable trigger track;
delete from word where w = 'pw ';
call bloom_track('word', 'word', 'w', 'on_it');
alter table word disable trigger track;
delete from word where w = 'pw ';
alter table word enable trigger track;
select pg_temp.error_of('truncate word');

-- Rows that no trigger sees: the list has them from its next run on.
set session_replication_role = replica;
insert into word values ('unseen', true);
reset session_replication_role;
select bloom_lookup('word', 'unseen');
call bloom_refresh('word');
select bloom_lookup('word', 'unseen');

-- A change that the query contradicts is told of once; strangers of whom the list says true by chance are not.
insert into word values ('back', true), ('gone', true);
delete from word where w = 'back';
set session_replication_role = replica;
insert into word values ('back', true);
delete from word where w = 'gone';
reset session_replication_role;
\set VERBOSITY default
select bloom_lookup_each('word', array['back', 'gone']);
call bloom_refresh('word');
select bloom_lookup_each('word', array['back', 'gone']), contradicted from bloom_published where name = 'word';
call bloom_refresh('word');
select contradicted from bloom_published where name = 'word';
\set VERBOSITY terse
create table chance (k int primary key, v boolean);
insert into chance select g, g <= 100 from generate_series(1, 300) g;
call bloom_publish('chance', 'select k, v from chance', p => 0.2);
call bloom_track('chance', 'chance', 'k', 'v');
delete from chance where k > 200;
call bloom_refresh('chance');
select count(*) filter (where bloom_lookup('chance', k)) between 1 and 50 from generate_series(201, 300) k;
call bloom_drop('chance');
drop table chance;

-- What can't track: each is an error of the statement that would have recorded something.
create collation pg_temp.ignoring (provider = icu, locale = 'und-u-ks-level2', deterministic = false); create table other (k int primary key, v boolean, d int unique deferrable, p int, t timestamptz unique, n name unique, m numeric, o oid unique, i text collate pg_temp.ignoring unique);
create unique index on other (p) where p > 0;
create unique index on other (m, k);
insert into other values (1, true, 1, 1, now(), 'n', 1);
call bloom_publish('other', 'select k from other where v');
create function refused(kind text, variadic columns text[]) returns text language plpgsql as $$
begin
  drop trigger if exists track on other;
  drop trigger if exists no_truncate on other;
  if kind = 'rows' then
    perform triggers('other', 'other', variadic columns);
  else
    execute format('create %s execute function bloom_change_trigger(''other'', %s)', kind, (select string_agg(quote_literal(c), ', ') from unnest(columns) c));
  end if;
  return pg_temp.error_of('insert into other values (2)');
end $$;
select refused('trigger track before insert on other for each row', 'k'), refused('trigger track after insert on other for each statement', 'k'),
  refused('constraint trigger track after insert on other deferrable for each row', 'k'), refused('trigger track after insert on other for each row', 'k', 'v') \gx
select refused('rows', 'd'), refused('rows', 'p'), refused('rows', 'm'), refused('rows', 'k', 't'), refused('rows', 'nowhere'), refused('rows', 'k', 'v', 'v'), refused('rows', 'o'), refused('rows', 'i') \gx
call bloom_publish('other', 'select n from other', allow_type_change => true);
select refused('rows', 'n');
delete from other where k = 2;
-- No list: nothing is recorded, and nothing refused.
drop trigger track on other; drop trigger no_truncate on other;
select triggers('nowhere', 'other', 'p');
insert into other values (2, true); truncate other; insert into other values (1, true, 1, 1, now(), 'n', 1);
drop trigger track on other; drop trigger no_truncate on other;
select bloom_change_trigger();
-- Times that wrap.
insert into other (k, t) values (7, '294247-01-10 04:00:54.775807 UTC');
call bloom_publish('times', 'select t from other');
call bloom_track('times', 'other', 't');
delete from public.other where isfinite(t) and t > '294246-12-31';
create trigger nothing after insert on other for each row execute function bloom_change_trigger();
call bloom_track('times', 'other', 't');
insert into other (k, t) values (2, 'infinity');
drop trigger nothing on other;
insert into other (k, t) values (3, 'infinity'), (4, '-infinity'), (5, '2000-01-01');
select pg_temp.error_of($$insert into other (k, t) values (6, '294276-12-31 UTC')$$);
select bloom_lookup('times', t) from other;
do $$ begin set standard_conforming_strings = off; exception when others then null; end $$; -- 19 has it no more
call bloom_untrack('times'); reset standard_conforming_strings;
select tgname from pg_trigger where tgrelid = 'other'::regclass and not tgisinternal;

-- A table without an index: the hint, followed. What the query asks of a row is a generated column.
create table bare (k int, gone timestamptz, here boolean generated always as (gone is null) stored);
insert into bare values (1);
call bloom_publish('bare', 'select k from bare where gone is null');
\set VERBOSITY default
call bloom_track('bare', 'bare', 'k', 'here');
create unique index on public.bare (k);
call bloom_track('bare', 'bare', 'k', 'here');
\set VERBOSITY terse
update bare set gone = now();
select bloom_lookup('bare', 1);
update bare set gone = null;
select bloom_lookup('bare', 1);
call bloom_drop('bare');
drop table bare;

-- Inheritance: the children's rows are not in the parent's index.
create table parent (k int primary key);
create table child () inherits (parent);
insert into parent values (1);
call bloom_publish('parent', 'select k from parent');
call bloom_track('parent', 'parent', 'k');
call bloom_track('parent', 'child', 'k');

-- Partitions: the index must be of all together, and TRUNCATE be refused of each.
create table day (k int, d int, v boolean, primary key (k, d)) partition by range (d);
create table day1 partition of day for values from (0) to (10);
create unique index on day1 (k);
insert into day values (1, 1, true);
call bloom_publish('day', 'select k from day where v');
call bloom_track('day', 'day', 'k', 'v');
call bloom_track('day', 'day1', 'k', 'v');
create table shard (k int primary key, v boolean) partition by range (k);
create table shard1 partition of shard for values from (0) to (100);
create table shard2 partition of shard for values from (100) to (200);
insert into shard select g, true from generate_series(1, 190, 10) g;
call bloom_publish('shard', 'select k from shard where v');
call bloom_track('shard', 'shard1', 'k', 'v');
call bloom_track('shard', 'shard', 'k', 'v');
update shard set k = 150 where k = 1;
update shard2 set v = false where k = 101;
select bloom_lookup_each('shard', array[1, 11, 101, 150]);
truncate shard2;
create table shard3 partition of shard for values from (200) to (300);
insert into shard values (201, true);
call bloom_track('shard', 'shard', 'k', 'v');
insert into shard values (201, true);
select bloom_lookup('shard', 201);

-- What a list can't be tracked by.
create materialized view old as select k from shard;
call bloom_publish('old', 'select k from old');
call bloom_track('old');
call bloom_publish('shard', 'select k from old');
call bloom_publish('shard', 'select k from shard');
select bloom_publish_filter('shard', bloom_create(10, 0.1));
call bloom_publish('shard', 'select k from shard where v');
select bloom_publish_filter('value', bloom_add(bloom_create(10, 0.1), 1)) > 0;
call bloom_track('value');
call bloom_track('nowhere');
call bloom_track('shard', 'shard', 'nowhere');
call bloom_track('shard', 'shard');
begin;
call bloom_track('shard');
rollback;
-- One table tracks a list.  Another one than that of the query is told of.
create table elsewhere (k int primary key);
insert into elsewhere values (1), (90000), (90001);
call bloom_track('shard', 'elsewhere', 'k');
call bloom_untrack('shard');
call bloom_track('shard', 'word', 'w');
call bloom_track('shard', 'elsewhere', 'k');
select tgrelid::regclass, tgname from pg_trigger where tgfoid = 'bloom_change_trigger'::regproc and tgparentid = 0 and tgrelid in ('shard'::regclass, 'shard1'::regclass, 'elsewhere'::regclass) order by 1, 2;

-- A query of two tables.
create table half (k int primary key);
create table other_half (k int primary key);
insert into half values (1), (2);
insert into other_half values (2), (3);
call bloom_publish('halves', 'select k from half union select k from other_half');
\set VERBOSITY default
call bloom_track('halves', 'half', 'k');
call bloom_track('halves', 'other_half', 'k');
\set VERBOSITY terse
call bloom_untrack('halves');
call bloom_track('halves');
delete from half where k = 2;
select bloom_change('halves', 1, false), bloom_lookup_each('halves', array[1, 2, 3]);
call bloom_drop('halves');
-- A column that the query doesn't ask.
alter table half add v boolean not null default false;
insert into half select generate_series(10, 30);
call bloom_publish('halves', 'select k from half');
call bloom_track('halves', 'half', 'k', 'v');
call bloom_drop('halves');
drop table half, other_half;

create view over as select k from shard where v;
call bloom_publish('over', 'select k from over');
call bloom_track('over', 'shard', 'k', 'v');
create or replace view over as select k from old;
call bloom_refresh('over');
call bloom_untrack('over');
call bloom_drop('over');
drop view over;
call bloom_untrack('shard');
insert into shard values (202, true);
call bloom_drop('shard');

-- Rights: whoever owns the table answers for what its trigger does.
create role regress_bloom_lists; create role regress_bloom_table; create role regress_bloom_app;
grant create on schema public to regress_bloom_table;
grant execute on procedure bloom_publish to regress_bloom_lists, regress_bloom_table;
set role regress_bloom_lists;
call bloom_publish('theirs', 'select 1');
call bloom_track('theirs');
set role regress_bloom_table;
select bloom_change('theirs', 2, true);
call bloom_track('theirs');
call bloom_untrack('theirs');
create table own (k int primary key);
select triggers('theirs', 'own', 'k');
select pg_temp.error_of('insert into own values (1)');
reset role;
select name, value from bloom_list_change where name = 'theirs';
grant regress_bloom_lists to regress_bloom_table;
grant insert on own to regress_bloom_app;
set role regress_bloom_app;
insert into own values (3);
select bloom_change('theirs', 4, true);
insert into bloom_change values ('theirs', '\x0100000004', true, 1);
reset role;
select bloom_lookup_each('theirs', array[1, 2, 3, 4]);

-- Keys that a policy hides from who calls.
alter role regress_bloom_lists bypassrls; grant regress_bloom_lists to regress_bloom_app;
create table veiled (k text primary key); insert into veiled values ('pw '); alter table veiled enable row level security; grant select, trigger on veiled to regress_bloom_lists;
set role regress_bloom_lists; call bloom_publish('veiled', 'select k from veiled'); set role regress_bloom_app; call bloom_track('veiled', 'veiled', 'k'); reset role;
revoke regress_bloom_lists from regress_bloom_app;

-- Nobody's trigger, rule or function runs with the rights of the tables' owner.
grant all on bloom_change, bloom_absorbed to regress_bloom_app;
create function planted_trigger() returns trigger language plpgsql as $$ begin raise warning 'planted runs as %', current_user; return new; end $$;
set role regress_bloom_app;
insert into bloom_change values ('theirs', '\x0100000004', true, 1);
delete from bloom_change;
create trigger planted before insert or update on bloom_change for each row execute function planted_trigger();
insert into own values (5);
reset role;
select count(*) from own;
drop trigger planted on bloom_change;
-- nor into one that a superuser has taken out of the extension
begin;
alter extension bloomfilter drop table bloom_absorbed;
set local role regress_bloom_app;
insert into bloom_absorbed values ('theirs', 0, '\x0100000004', 1);
rollback;
create schema planted;
create function planted.greatest_of(bigint, integer) returns bigint language plpgsql as $$ begin raise warning 'planted'; return 1; end $$;
create operator planted.+ (leftarg = bigint, rightarg = integer, function = planted.greatest_of);
create table planted.bloom_change (name text, key bytea, value boolean, version bigint);
set search_path = planted, public;
insert into own values (6);
delete from own where k = 6;
reset search_path;
table planted.bloom_change;

-- A row that the query itself adds isn't seen by the query's snapshot, and would be denied.
create table grows (k bigint primary key);
create function adds(bigint) returns bigint language plpgsql as $$ begin insert into grows values ($1 + 1000) on conflict do nothing; return $1; end $$;
insert into grows values (1);
call bloom_publish('grows', 'select adds(k) from grows', p => 1e-6, "check" => false);
call bloom_track('grows', 'grows', 'k');
call bloom_publish('grows', 'select k from grows');
call bloom_track('grows', 'grows', 'k');
call bloom_publish('grows', 'select adds(k) from grows', "check" => false);
insert into grows values (2);
select k, bloom_lookup('grows', k) from grows order by k;

drop schema planted cascade;
drop table veiled, own, grows, elsewhere, shard, parent, child, day, other, word cascade;
select bloom_change_kind('\x'), bloom_change_kind('\x01000000'), bloom_change_kind('\xff000000'), bloom_change_kind('\x0f210000aa');
call pg_temp.drop_lists();
select count(*) from bloom_change;
drop function triggers(text, regclass, text[]), changes(text), refused(text, text[]), before_word(), planted_trigger(), adds(bigint);
revoke all on procedure bloom_publish from regress_bloom_lists, regress_bloom_table;
revoke all on bloom_change, bloom_absorbed from regress_bloom_app;
revoke create on schema public from regress_bloom_table;
drop role regress_bloom_lists, regress_bloom_table, regress_bloom_app;
