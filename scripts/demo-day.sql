-- demo-day.sql: what the list answers, against the table itself.
\pset footer off
\echo 'A scan: which of 2 million texts may be words? By the filter, then by joining the table'
\echo
create temp table texts as
select case when g % 100 = 0 then word else 'other ' || g end as text
from generate_series(1, 2000000) g
left join (select word, row_number() over () * 100 as place from words) w on place = g;
analyze texts;
\timing on
select count(*) filter (where bloom_lookup('words', text)) as may_be_words from texts;
select count(*) filter (where word is not null) as are_words from texts left join words on word = text;
\timing off

\echo
\echo 'No word is missing, and of other keys no more than promised are let through'
\echo
select (select count(*) filter (where not bloom_lookup('words', word)) from words) as words_missing,
       count(*) as others_asked,
       count(*) filter (where bloom_lookup('words', 'other ' || g)) as let_through,
       max(l.p) * count(*) as promised_at_most
from generate_series(1, 1000000) g, bloom_published l;
