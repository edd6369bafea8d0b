-- night.sql: builds the filter, checks it, publishes it, tells everybody.
--
-- All in one snapshot: repeatable read.  n is fixed, with room for growth, so that
-- the filter has the same shape every night and its delta is small.
\set ON_ERROR_STOP on
begin isolation level repeatable read;

delete from whitelist_next where name = 'account';
insert into whitelist_next
select 'account', bloom_agg(id, 500000, 0.01) from account;

do $$
declare
    missing bigint;
    passed bigint;
begin
    select (select count(*) from account where not bloom_contains(filter, id)),
        -- Ids are positive; of 100,000 absent ones 1000 may pass, and six sigma more.
        (select count(*) from generate_series(1, 100000) g where bloom_contains(filter, -g))
    into missing, passed
    from whitelist_next where name = 'account' and bloom_verify(filter);
    if missing is distinct from 0 or passed > 1190 then
        raise exception 'not published: % keys missing, % of 100000 absent keys pass',
            missing, passed;
    end if;
end
$$;

insert into whitelist_delta
select name, bloom_diff(whitelist.filter, whitelist_next.filter)
from whitelist join whitelist_next using (name)
where name = 'account'
on conflict (name) do update set delta = excluded.delta;

insert into whitelist
select name, filter, now() from whitelist_next where name = 'account'
on conflict (name) do update set filter = excluded.filter, built_at = excluded.built_at;

notify whitelist, 'account';
commit;
