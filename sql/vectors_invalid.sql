-- Each broken filter of the golden vectors is refused by every door.
\getenv source PG_ABS_SRCDIR
\set table invalid
\set file :source '/sql/lib/vectors.sql'
\i :file
create temp table invalid as select f[1] as name, f[2] as rule, f[3] as hex from lines;
create temp table answers (name text, rule text, by_text text, by_bytea text, message text);
do $$
declare
  i record;
  as_text text;
  by_text text;
  by_bytea text;
  said text;
begin
  for i in select * from invalid loop
    as_text := translate(encode(decode(i.hex, 'hex'), 'base64'), E'\n', '');
    begin
      perform as_text::bloomfilter;
      by_text := 'accepted';
    exception when others then
      by_text := sqlstate;
    end;
    begin
      perform decode(i.hex, 'hex')::bloomfilter;
      by_bytea := 'accepted';
    exception when others then
      by_bytea := sqlstate;
      said := sqlerrm;
    end;
    if i.hex <> '' and by_text <> 'accepted' then
      begin
        perform as_text::bloomfilter;
      exception when others then
        if sqlerrm <> said then
          said := 'not the same: ' || sqlerrm || ' / ' || said;
        end if;
      end;
    end if;
    insert into answers values (i.name, i.rule, by_text, by_bytea, said);
  end loop;
end $$;
create function pg_temp.valid_inputs() returns bigint language plpgsql as $$
declare
  answer bigint := 0;
begin
  if current_setting('server_version_num')::int >= 160000 then
    execute $q$select count(*) from invalid
      where pg_input_is_valid(translate(encode(decode(hex, 'hex'), 'base64'), E'\n', ''), 'bloomfilter')$q$
      into answer;
  end if;
  return answer;
end $$;
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
select distinct regexp_replace(message, ':.*', '') as begins from answers;
-- an unknown version is refused by its number
select name, message from answers join invalid i using (name)
where answers.rule = 'version'
  and message !~ ('unsupported format version ' || get_byte(decode(hex, 'hex'), 4) || '$')
order by name collate "C";
-- nothing invalid is called valid input (16 and newer)
select pg_temp.valid_inputs();
