-- schema.sql: what the nightly job needs, once.
create extension if not exists bloomfilter;

-- The source of keys: your own table.
create table if not exists account (id bigint primary key);
insert into account select generate_series(1, 200000) on conflict do nothing;

-- Who runs the night, and who fetches what it publishes.
do $$
begin
    create role nightly login;
exception when duplicate_object then
end $$;
do $$
begin
    create role filter_puller login;
exception when duplicate_object then
end $$;
grant select on account to nightly;
grant execute on procedure bloom_publish to nightly;
grant select on bloom_list, bloom_list_part to filter_puller;
