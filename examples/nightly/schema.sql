-- schema.sql: what the nightly job needs, once.
create extension if not exists bloomfilter;

-- The source of keys: your own table.
create table account (id bigint primary key);

-- What everybody asks and fetches.
create table whitelist (
    name text primary key,
    filter bloomfilter not null,
    built_at timestamptz not null
);

-- What leads from last night's filter to the published one.
create table whitelist_delta (name text primary key, delta bytea not null);
alter table whitelist_delta alter delta set storage external;

-- Where a filter waits for its check.  Lost in a crash, and that doesn't matter.
create unlogged table whitelist_next (name text primary key, filter bloomfilter not null);

alter table whitelist set (toast.vacuum_truncate = false);
