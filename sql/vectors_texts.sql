-- Each key that a text is, by PostgreSQL's own cast.
\set table texts
\i `echo $PG_ABS_SRCDIR`/sql/lib/vectors.sql
create temp table texts as
  select f[1] as type,
         case when f[2] like 'hex:%' then convert_from(decode(substr(f[2], 5), 'hex'), 'UTF8') else f[2] end as text,
         -- a key of bytea is hashed as it is
         case when f[3] like 'xxh64:%' then ('x' || substr(f[3], 7))::bit(64)::bigint else bloom_hash(decode(f[3], 'hex')) end as hash
  from lines where f[4] = 'key';
create function pg_temp.key_hash(type text, t text) returns bigint language plpgsql as $$
begin
  case type
    when 'integer' then return bloom_hash(t::bigint);
    when 'text' then return bloom_hash(t);
    when 'bytea' then return bloom_hash(t::bytea);
    when 'uuid' then return bloom_hash(t::uuid);
    when 'numeric' then return bloom_hash(t::numeric);
    when 'float' then return bloom_hash(t::float8);
    when 'real' then return bloom_hash(t::real);
    when 'date' then return bloom_hash(t::date);
    when 'timestamp' then return bloom_hash(t::timestamp);
    when 'timestamptz' then return bloom_hash(t::timestamptz);
    when 'inet' then return bloom_hash(t::inet);
    when 'macaddr' then return bloom_hash(t::macaddr8);
  end case;
end $$;
-- a key that is written as text is the one that PostgreSQL's cast makes of it
select type, text from texts
where pg_temp.key_hash(type, text) is distinct from hash;
-- of every type there is one
select type, count(*) > 5 as several from texts group by type order by type;
