-- demo-night.sql: builds, checks and publishes the filter, and shows what it is.
\pset footer off
\timing on
call bloom_publish('words', 'select word from words', p => 0.001);
create index words_again on words (word);
\timing off
drop index words_again;

\echo
select keys, p as promised_rate, round(rate::numeric, 6) as rate,
       pg_size_pretty(bytes) as filter,
       pg_size_pretty(pg_relation_size('words_pkey')) as btree,
       pg_size_pretty(pg_relation_size('words')) as "table",
       round(pg_relation_size('words_pkey')::numeric / bytes) as "btree/filter"
from bloom_published;
