\set ECHO none
-- Answers without a form, and no notices.
\pset format unaligned
\pset tuples_only on
\pset null null
set client_min_messages = warning;
-- What a statement says: its SQLSTATE, its message, and its detail and hint where it has some.
create function pg_temp.error_of(statement text, answered boolean default false) returns text language plpgsql as $$
declare
  answer text;
  detail text;
  hint text;
begin
  if answered then
    execute statement into answer;
    return 'answer: ' || coalesce(answer, 'null');
  end if;
  execute statement;
  return 'no error';
exception
  -- PostgreSQL says it otherwise in each version
  when undefined_function then return sqlstate;
  when others then
    get stacked diagnostics detail = pg_exception_detail, hint = pg_exception_hint;
    return concat_ws(' / ', sqlstate || ': ' || sqlerrm, nullif(detail, ''), nullif(hint, ''));
end $$;
-- The same of a statement whose answer is told if it has none.
create function pg_temp.answer_of(statement text) returns text language sql as 'select pg_temp.error_of(statement, true)';
-- The lines of a plan.
create function pg_temp.plan_of(query text) returns setof text language plpgsql as $$
begin
  return query execute 'explain (costs off) ' || query;
end $$;
create procedure pg_temp.drop_lists() language plpgsql as $$
declare
  list text;
begin
  for list in select name from bloom_published loop
    call bloom_drop(list);
  end loop;
end $$;
\set ECHO all
