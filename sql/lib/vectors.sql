\ir begin.sql
\set ECHO none
-- The rows of a table of test/vectors, each an array of its columns, whose names are shown: they are taken by their place.
\getenv source PG_ABS_SRCDIR
\set file :source '/test/vectors/' :table '.tsv'
\set lines `cat :'file'`
set client_encoding = 'UTF8';
create temp table lines as
  select string_to_array(line, E'\t') as f from string_to_table(:'lines', E'\n') with ordinality l(line, number) where number > 1;
select split_part(:'lines', E'\n', 1) as columns;
\set ECHO all
