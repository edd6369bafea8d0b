-- demo-day.sql: what the filter answers, against the table itself.
\pset footer off
\echo 'No word is missing, and of other keys no more than promised are let through'
\echo
select count(*) filter (where not bloom_contains(filter, word)) as words_missing,
       count(*) as words_asked
from words, whitelist;

select count(*) as others_asked,
       count(*) filter (where bloom_contains(filter, 'other ' || g)) as let_through,
       (count(*) filter (where bloom_contains(filter, 'other ' || g))::numeric / count(*))::numeric(7, 6) as rate,
       max(s.p) as asked_rate
from whitelist, bloom_stats(filter) s, generate_series(1, 1000000) g;

\echo 'The same bytes for application servers: base64 in text, and a checksum inside'
\echo
select left(filter::text, 60) || '...' as filter, bloom_verify(filter) as whole
from whitelist;
