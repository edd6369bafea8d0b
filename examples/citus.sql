-- citus.sql: a list of a distributed table, with its filters on all nodes.  doc/CITUS.md says why.
--
-- Run it with psql on a coordinator that has workers, in an empty database:
--
--     psql -v ON_ERROR_STOP=1 -f citus.sql

create extension if not exists citus;
-- Citus creates it on the workers, too, as it does with every extension.
create extension if not exists bloomfilter;

create table member (id bigint primary key, email text not null);
select create_distributed_table('member', 'id');
insert into member
select g, 'member' || g || '@example.com' from generate_series(1, 100000) g;

-- For once.  The list is the coordinator's; the reference table takes its filters to the workers.
call bloom_publish('members', 'select id from member', n => 200000, parts => 4);
create table list_filter (
    name text, part int, serial bigint not null, filter bloomfilter not null,
    primary key (name, part)
);
select create_reference_table('list_filter');

-- Each night.  A refresh that fails leaves both as they were.
begin isolation level repeatable read;
call bloom_refresh('members');
delete from list_filter where name = 'members';
insert into list_filter
select name, part, serial, filter
from bloom_list join bloom_list_part using (name)
where name = 'members';
commit;

-- On the workers, beside the rows.  Without a filter each key may be in.
select count(*) as members_missing
from member m
left join list_filter f on f.name = 'members' and f.part = bloom_part(m.id, 4)
where bloom_contains(f.filter, m.id) is false;

-- On the coordinator: bloom_lookup of keys that were taken first.
with k as materialized (select id from member where id <= 1000)
select count(*) as members_missing from k where not bloom_lookup('members', id);
