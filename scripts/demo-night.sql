-- demo-night.sql: builds the filter and shows what it is.
\pset footer off
\timing on
insert into whitelist
select 'words', bloom_agg(word, (select count(*) from words), 0.001) from words;
create index words_again on words (word);
\timing off
drop index words_again;

\echo
select s.n as keys, s.p as asked_rate, s.fpr as expected_rate,
       round(s.bits::numeric / s.n, 2) as bits_per_key,
       pg_size_pretty(s.bytes) as filter,
       pg_size_pretty(pg_relation_size('words')) as "table",
       pg_size_pretty(pg_relation_size('words_pkey')) as btree
from whitelist, bloom_stats(filter) s;
