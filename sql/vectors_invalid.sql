-- Each broken filter of the golden vectors is refused by every door.
\set table invalid
\i `echo $PG_ABS_SRCDIR`/sql/lib/vectors.sql
create temp table invalid as select f[1] as name, f[2] as rule, f[3] as hex, translate(encode(decode(f[3], 'hex'), 'base64'), E'\n', '') as as_text from lines;
create temp table answers as
  select name, rule, left(t, 5) as by_text, left(b, 5) as by_bytea, substr(split_part(b, ' / ', 1), 8) as message, hex <> '' and substr(t, 8) is distinct from substr(b, 8) as other_by_text
  from invalid, pg_temp.error_of(format('select %L::bloomfilter', as_text)) t, pg_temp.error_of(format('select decode(%L, ''hex'')::bloomfilter', hex)) b;
-- every broken rule is refused by each door, with that door's SQLSTATE
select rule, count(*) as rows, by_text, by_bytea from answers
group by rule, by_text, by_bytea order by rule collate "C", count(*) desc;
-- by binary COPY, too: bytea's form there is a filter's
do $$
declare
  file text := current_setting('data_directory') || '/vectors_invalid';
  i record;
begin
  create temp table received (f bloomfilter);
  for i in select * from invalid loop
    execute format('copy (select %L::bytea) to %L (format binary)', '\x' || i.hex, file);
    begin
      execute format('copy received from %L (format binary)', file);
      raise warning 'a client may send %', i.name;
    exception when invalid_binary_representation or feature_not_supported then null;
    end;
  end loop;
  execute format('copy (select) to program %L', format('rm %L', file));
end $$;
-- each rule has one message, the same by each door, and no two rules share theirs
-- (text without any byte has the message of text that is no base64)
select rule, count(distinct message) from answers where rule <> 'version'
group by rule having count(distinct message) <> 1;
select message from answers group by message having count(distinct rule) > 1;
select distinct regexp_replace(message, ':.*', '') as begins, other_by_text from answers;
-- an unknown version is refused by its number
select name, message from answers join invalid i using (name)
where answers.rule = 'version'
  and message !~ ('unsupported format version ' || get_byte(decode(hex, 'hex'), 4) || '$')
order by name collate "C";
-- nothing invalid is called valid input, where the server can be asked (16 and newer)
select pg_temp.answer_of('select count(*) from invalid where pg_input_is_valid(as_text, ''bloomfilter'')') in ('42883', 'answer: 0') as none;
