#!/usr/bin/env python3
"""Writes sql/vectors_*.sql from the golden vectors in test/vectors.

    python3 sql/make_vectors_sql.py

pg_regress before 15 does not tell a test where its source folder is, so the
rows stand in the tests themselves.  Run it after a change of the vectors and
commit what it writes.
"""

import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VECTORS = os.path.join(HERE, os.pardir, 'test', 'vectors')

sys.path.insert(0, VECTORS)
from make_vectors import xxh64

HEAD = """-- Made from test/vectors by sql/make_vectors_sql.py.
\\set ECHO none
set client_encoding = 'UTF8';
"""



def rows(name):
    with open(os.path.join(VECTORS, name), encoding='utf-8', newline='\n') as f:
        lines = f.read().split('\n')[:-1]
    columns = lines[0][1:].split('\t')
    return [dict(zip(columns, line.split('\t'))) for line in lines[1:]]


def signed(number):
    return number - (1 << 64) if number >= 1 << 63 else number


def copy_data(table, columns, data):
    def escaped(field):
        return (str(field).replace('\\', '\\\\').replace('\t', '\\t')
                .replace('\n', '\\n').replace('\r', '\\r'))
    lines = ['copy %s (%s) from stdin;' % (table, columns)]
    lines += ['\t'.join(escaped(f) for f in row) for row in data]
    return '\n'.join(lines) + '\n\\.\n'


def little(key_hex):
    return signed(int.from_bytes(bytes.fromhex(key_hex), 'little'))


def dated(kind, count):
    if count == (1 << 63) - 1:
        return "'infinity'::%s" % kind
    if count == -(1 << 63):
        return "'-infinity'::%s" % kind
    if kind == 'date':
        return "('1970-01-01'::date + (%d))" % count
    zone = '+00' if kind == 'timestamptz' else ''
    return ("('1970-01-01 00:00:00%s'::%s + make_interval(hours => %d) + "
            "make_interval(secs => %d) + (%d) * interval '1 microsecond')"
            % (zone, kind, count // 3600000000, count // 1000000 % 3600, count % 1000000))


def address(octets):
    family, prefix = octets[0], octets[1]
    if family == 4:
        text = '.'.join(str(b) for b in octets[2:])
    else:
        text = ':'.join(octets[i:i + 2].hex() for i in range(2, 18, 2))
    return "'%s/%d'::inet" % (text, prefix)


def row(octets, known):
    """Its columns are a type, the length of their bytes, and these."""
    columns = []
    while octets:
        end = 5 + int.from_bytes(octets[1:5], 'little')
        columns.append(sql_of(octets[0], octets[5:end].hex(), known))
        octets = octets[end:]
    return 'ROW(%s)' % ', '.join(columns)


def sql_of(key_type, key_hex, known):
    """An SQL expression for the key."""
    if (key_type, key_hex) in known:
        return known[key_type, key_hex]
    octets = bytes.fromhex(key_hex)
    if key_type in (0, 1):
        return "('%d'::bigint)" % little(key_hex)
    if key_type == 2:
        return "'%s'::text" % octets.decode().replace("'", "''")
    if key_type == 3:
        return "'\\x%s'::bytea" % key_hex
    if key_type == 4:
        return "'%s'::uuid" % key_hex
    if key_type == 5:
        return "'%s'::numeric" % octets.decode()
    if key_type == 6:
        return "'%r'::float8" % struct.unpack('<d', octets)[0]
    if key_type in (7, 8, 9):
        return dated({7: 'date', 8: 'timestamp', 9: 'timestamptz'}[key_type], little(key_hex))
    if key_type == 10:
        return address(octets)
    if key_type == 11:
        kind = 'macaddr' if len(octets) == 6 else 'macaddr8'
        return "'%s'::%s" % (key_hex, kind)
    if key_type == 12:
        return row(octets, known)
    raise ValueError(key_type)


def known_keys():
    known = {}
    for row in rows('keys.tsv'):
        if row['sql'] != '-':
            known.setdefault((int(row['key_type']), row['key_hex']), row['sql'])
    return known


def write(name, text):
    with open(os.path.join(HERE, name), 'w', encoding='utf-8', newline='\n') as f:
        f.write(text)


def keys_test():
    data = [(r['sql'], signed(int(r['seed'])), signed(int(r['hash_hex'], 16)),
             r['key_type'], r['parts'], r['part'])
            for r in rows('keys.tsv') if r['sql'] != '-']
    write('vectors_keys.sql', HEAD + """create temp table keys (
  key text, seed bigint, hash bigint, key_type int, parts int, part int);
""" + copy_data('keys', 'key, seed, hash, key_type, parts, part', data) + """
-- numeric has infinities from 14 on
delete from keys where key ~ 'Infinity.*numeric'
  and current_setting('server_version_num')::int < 140000;

create temp table answers (key text, seed bigint, hash bigint, parts int, part int, key_type text, found boolean);
do $$
declare
  k record;
begin
  for k in select * from keys loop
    execute format('insert into answers select %L, %L, bloom_hash(%s, %L), %L, bloom_part(%s, %L, %L), '
                   '(bloom_stats(f)).key_type, f @> %s '
                   'from (select bloom_add(bloom_create(1, 0.01, %L), %s) offset 0) s(f)',
                   k.key, k.seed, k.key, k.seed, k.parts, k.key, k.parts, k.seed, k.key, k.seed, k.key);
  end loop;
end $$;
\\set ECHO all
-- every key of the vectors was asked
select count(*) = (select count(*) from keys) and count(*) > 500 as asked from answers;
-- bloom_hash is the hash of the vectors
select k.key, k.seed, k.hash, a.hash from keys k join answers a using (key, seed) where k.hash <> a.hash;
-- bloom_part is the part of the vectors
select k.key, k.part, a.part from keys k join answers a using (key, seed)
where k.part <> a.part and k.parts = a.parts;
-- each key is found in a filter of it
select key from answers where found is not true;
-- each key type has one name, and a row those of its columns
select k.key_type, a.key_type as name from keys k join answers a using (key, seed) group by 1, 2 order by 1, a.key_type collate "C";
""")


def hash_of_key(field):
    if field.startswith('xxh64:'):
        return int(field[6:], 16)
    return xxh64(bytes.fromhex(field), 0)


def texts_test():
    data = []
    for r in rows('texts.tsv'):
        if r['sql'] == 'key':
            text = r['text']
            octets = bytes.fromhex(text[4:]) if text.startswith('hex:') else text.encode()
            data.append((r['type'], octets.hex(), signed(hash_of_key(r['key_hex']))))
    write('vectors_texts.sql', HEAD + """create temp table texts (type text, hex text, hash bigint);
""" + copy_data('texts', 'type, hex, hash', data) + """
-- numeric has infinities from 14 on
delete from texts where type = 'numeric' and convert_from(decode(hex, 'hex'), 'UTF8') ~* 'inf'
  and current_setting('server_version_num')::int < 140000;

create function key_hash(type text, t text) returns bigint language plpgsql as $$
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
\\set ECHO all
-- a key that is written as text is the one that PostgreSQL's cast makes of it
select type, convert_from(decode(hex, 'hex'), 'UTF8') as text from texts
where key_hash(type, convert_from(decode(hex, 'hex'), 'UTF8')) is distinct from hash;
-- of every type there is one
select type, count(*) > 5 as several from texts group by type order by type;
""")


def list_of(field):
    return [] if field == '-' else field.split(',')


def filters_test():
    known = known_keys()
    data, asked = [], []
    for r in rows('filters.tsv'):
        kind = int(r['key_type'])
        made_of = r['made_of'] if r['made_of'] != '-' else ''
        data.append((r['name'], r['n'], r['p'], signed(int(r['seed'])), r['k'],
                     1 << int(r['log2_block_bits']), r['blocks'], r['part'], r['parts'],
                     r['bits_set'], made_of, r['filter_hex']))
        for column, role in (('keys', 'key'), ('absent', 'absent'),
                             ('false_positives', 'false positive')):
            for key_hex in list_of(r[column]):
                asked.append((r['name'], role, sql_of(kind, key_hex, known)))
    write('vectors_filters.sql', HEAD + """create temp table filters (
  name text primary key, n bigint, p float8, seed bigint, hashes int, block_bits int, blocks bigint,
  part int, parts int, bits_set bigint, made_of text, hex text);
create temp table asked (name text, role text, key text);
""" + copy_data('filters', 'name, n, p, seed, hashes, block_bits, blocks, part, parts, bits_set, made_of, hex', data)
          + copy_data('asked', 'name, role, key', asked) + """
-- numeric has infinities from 14 on; a filter of them cannot be built before
delete from asked where current_setting('server_version_num')::int < 140000
  and key ~ 'Infinity.*numeric';

set bloomfilter.overflow = ignore;
create temp table stored as select *, decode(hex, 'hex')::bloomfilter as f from filters;
create temp table answers (name text, role text, key text, found boolean, contained boolean);
create temp table built (name text, f bloomfilter);
do $$
declare
  a record;
  s record;
  b bloomfilter;
begin
  for a in select * from asked loop
    execute format('insert into answers select %L, %L, %L, f @> %s, %s <@ f from stored where name = %L',
                   a.name, a.role, a.key, a.key, a.key, a.name);
  end loop;
  for s in select * from stored loop
    b := bloom_reset(s.f);
    for a in select * from asked where name = s.name and role = 'key' loop
      execute format('select bloom_add($1, %s)', a.key) into b using b;
    end loop;
    insert into built values (s.name, b);
  end loop;
end $$;
\\set ECHO all
-- a valid filter comes out as it came in
select name from stored where f::bytea <> decode(hex, 'hex') or octet_length(f::bytea) * 2 <> length(hex);
-- its text form is base64 of the same bytes
select name from stored where f::text <> translate(encode(decode(hex, 'hex'), 'base64'), E'\\n', '')
  or f::text::bloomfilter <> f;
-- its statistics are what the header says
select name from stored, bloom_stats(f) s
where (s.n, s.p, s.seed, s.hashes, s.block_bits, s.blocks, s.part, s.parts, s.bits_set)
  is distinct from (stored.n, stored.p, stored.seed, stored.hashes, stored.block_bits, stored.blocks,
                    stored.part, stored.parts, stored.bits_set);
-- every listed key was asked; its keys and false positives are found, absent keys are not
select role, count(*) > 0 as asked,
       count(*) filter (where (role <> 'absent') is distinct from found or found is distinct from contained) as wrong
from answers group by role order by role;
-- a filter built from the keys has the same bytes; an intersection holds more bits
select name from stored join built b using (name)
where stored.f <> b.f and made_of not like 'and %'
  and not (name in ('numeric', 'row_of_six') and current_setting('server_version_num')::int < 140000);
-- unions and intersections of the vectors
select s.name from stored s
  join stored a on a.name = split_part(s.made_of, ' ', 2)
  join stored b on b.name = split_part(s.made_of, ' ', 3)
where (s.made_of like 'or %' and (a.f | b.f <> s.f or b.f | a.f <> s.f))
   or (s.made_of like 'and %' and (a.f & b.f <> s.f or b.f & a.f <> s.f));
select split_part(made_of, ' ', 1) as operation, count(*) > 0 as seen from stored
where made_of ~ '^(or|and) ' group by 1 order by 1;
-- a key of another type is an error and not an answer
do $$
declare
  s record;
  answer boolean;
begin
  for s in select * from stored, bloom_stats(f) t where t.key_type not in ('bytea', 'none') loop
    begin
      answer := s.f @> '\\x00'::bytea;
      raise exception 'answered % for %', answer, s.name;
    exception when datatype_mismatch then null;
    end;
  end loop;
end $$;
-- a key of another part is an error and not an answer
do $$
declare
  s record;
  wrong int := 0;
  errors int := 0;
  answer boolean;
begin
  for s in select name, f, t.part, t.parts, t.seed, k from stored s, bloom_stats(f) t, generate_series(1, 30) k
           where t.parts > 1 and t.key_type in ('integer', 'none') loop
    begin
      answer := s.f @> s.k;
      if bloom_part(s.k, s.parts, s.seed) <> s.part then
        wrong := wrong + 1;
      end if;
    exception when invalid_parameter_value then
      if bloom_part(s.k, s.parts, s.seed) = s.part then
        wrong := wrong + 1;
      end if;
      errors := errors + 1;
    end;
  end loop;
  raise notice 'wrong: %, some refused: %', wrong, errors > 0;
end $$;
""")


def invalid_test():
    data = [(r['name'], r['rule'], r['filter_hex']) for r in rows('invalid.tsv')]
    write('vectors_invalid.sql', HEAD + """create temp table invalid (name text, rule text, hex text);
""" + copy_data('invalid', 'name, rule, hex', data) + """
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
    as_text := translate(encode(decode(i.hex, 'hex'), 'base64'), E'\\n', '');
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
      where pg_input_is_valid(translate(encode(decode(hex, 'hex'), 'base64'), E'\\n', ''), 'bloomfilter')$q$
      into answer;
  end if;
  return answer;
end $$;
\\set ECHO all
-- every broken rule is refused by each door, with that door's SQLSTATE
select rule, count(*) as rows, by_text, by_bytea from answers
group by rule, by_text, by_bytea order by rule collate "C", count(*) desc;
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
""")


if __name__ == '__main__':
    keys_test()
    texts_test()
    filters_test()
    invalid_test()
