# A published list whose stored bytes were damaged: it is published again, taken back or
# dropped, as RUNBOOK says.
use BloomTest;
use Config;
use BloomTest::Damage;

require "$FindBin::RealBin/050_doc.pm";

plan skip_all => 'damages files as a little-endian server writes them'
  if $Config{byteorder} !~ /^1234/;

my $node = new_node('damaged_list', initdb => BloomTest::Damage->initdb);
my $session = session($node);

# In the order of their filters.
my @lists = qw(block header header_drop header_identity gone gone_back);
$session->query("CALL bloom_publish('$_', 'SELECT generate_series(1, 20000)')") foreach @lists;
my $starts = BloomTest::Damage->locate_starts($session, 'bloom_generation_part');
is($starts->count, scalar(@lists), 'each list has its filter in chunks');
$session->query("CALL bloom_publish('gone_back', 'SELECT generate_series(1, 20000)')");
my $current = BloomTest::Damage->locate_starts($session, 'bloom_generation_part');

$session->quit;
$node->stop;
$starts->flip($node, 0, 1000, 0x10);
$starts->flip($node, $_, 20, 0x02) foreach 1 .. 3;
$starts->remove($node, 4);
$current->remove($node, $#lists + 1);
$node->start;
$session = session($node);

sub all_found
{
	my ($list) = @_;
	is($session->query("SELECT count(*) FROM generate_series(1, 20000) k WHERE NOT bloom_lookup('$list', k)"),
		0, "$list: every key is found");
	is($session->query("SELECT bool_and(bloom_verify(filter)) FROM bloom_list_part WHERE name = '$list'"),
		't', "$list: its filter is whole");
	return;
}

sub publish
{
	my ($list) = @_;
	my (undef, $state, $told) = $session->try("CALL bloom_publish('$list', 'SELECT generate_series(1, 20000)')");
	is($state, '', "$list: is published again");
	return $told;
}

# A bit of a block, which a look-up can't see.
is($session->query("SELECT bloom_verify(filter) FROM bloom_list_part WHERE name = 'block'"), 'f', 'block: damaged');
unlike(publish('block'), qr/damaged/, 'block: nothing hinders');
all_found('block');

# The header: what was known of the keys stands in the list's row.
foreach my $list (grep { /^header/ } @lists)
{
	is($session->state_of("SELECT bloom_lookup('$list', 1)"), 'XX001', "$list: damaged");
}
publish('header');
all_found('header');
is($session->state_of(q{CALL bloom_set_identity('header_identity', gen_random_uuid())}), '', 'header_identity: gets another identity');
is($session->state_of(q{CALL bloom_drop('header_drop')}), '', 'header_drop: is dropped');

# No first chunk: PostgreSQL's own error, and yet the ways out.
is($session->state_of("SELECT bloom_lookup('gone', 1)"), 'XX001', 'gone: damaged');
is($session->state_of("SELECT bloom_lookup('gone_back', 1)"), 'XX001', 'gone_back: damaged');
is($session->state_of(q{CALL bloom_rollback('gone_back')}), '', 'gone_back: back to the generation before');
all_found('gone_back');
publish('gone');
all_found('gone');

# A filter is not published damaged.
$session->query('CREATE TABLE kept AS SELECT bloom_agg(k, 20000) AS f FROM generate_series(1, 20000) k');
my $kept = BloomTest::Damage->locate($session, 'kept');
$session->quit;
$node->stop;
$kept->flip($node, 3, 500, 0x04);
$node->start;
$session = session($node);
is($session->state_of("SELECT bloom_publish_filter('kept', f) FROM kept"), 'XX001', 'a damaged filter is not published');
is($session->query("SELECT count(*) FROM bloom_published WHERE name = 'kept'"), 0, 'in fact');

# Whole pages: the check names the list, a refresh makes look-ups right, and RUNBOOK's statements
# take away what the next one can't delete.
my ($check) = doc::sql_blocks('doc/RUNBOOK.md', 'sql');
my ($cure) = doc::sql_blocks('doc/RUNBOOK.md', 'cure');
my ($do) = $check->{sql} =~ /^(do \$\$.*?end \$\$;)/ms;
my $dump = PostgreSQL::Test::Utils::tempdir_short() . '/dump';
$session->query(q{DO $$ DECLARE list text; BEGIN FOR list IN SELECT name FROM bloom_list LOOP CALL bloom_drop(list); END LOOP; END $$; DROP TABLE kept; VACUUM FULL bloom_generation_part});
$session->query("CALL bloom_publish('whole', 'SELECT generate_series(1, 20000)', n => 1000000)");

# What is done with a page of a list of 600 chunks, what is seen then, and whether the next publish
# but one can delete it; undef where the cure comes first.
my %damage = (
	page => [ sub { my ($file, $at) = @_; seek($file, $at, 0); print $file "\xff" x 8192 }, qr/invalid page in block/, 0 ],
	lost => [ sub { my ($file, $at) = @_; seek($file, $at, 0); print $file "\0" x 8192 }, qr/(?:missing|unexpected) chunk number/, 1 ],
	cut => [ sub { my ($file, $at) = @_; truncate($file, $at) }, qr/could not read block/, undef ]);
foreach my $kind (sort keys %damage)
{
	my ($spoil, $seen, $deletable) = @{ $damage{$kind} };
	my $list = "of_$kind";
	$session->query("CALL bloom_publish('$list', 'SELECT generate_series(1, 20000)', n => 1000000)") foreach 1 .. 2;
	my ($toast, $path) = split /\|/, $session->query(
		q{SELECT reltoastrelid::regclass, pg_relation_filepath(reltoastrelid) FROM pg_class WHERE oid = 'bloom_generation_part'::regclass});
	# The last page belongs to what was published last.
	my $block = $session->query("SELECT max((ctid::text::point)[0])::int - 1 FROM $toast");
	$session->quit;
	$node->stop;
	open(my $file, '+<:raw', $node->data_dir . "/$path") or die $!;
	$spoil->($file, $block * 8192);
	close($file) or die $!;
	$node->start;
	$session = session($node);

	like(($session->try($do))[2], qr/WARNING: .*list $list, part 0: .*$seen/s, "$kind: the check names the list");
	unlike(($session->try($do))[2], qr/WARNING: .*list whole/, "$kind: and no other");
	is($session->query("SELECT count(*) FROM bloom_published WHERE name = '$list' AND rate < p"), 1, "$kind: the list is shown");
	if (defined $deletable)
	{
		is($session->state_of("CALL bloom_refresh('$list')"), '', "$kind: a refresh reads nothing of it");
		all_found($list);
		my (undef, $state) = $session->try("CALL bloom_refresh('$list')");
		is($state ne '' ? 0 : 1, $deletable, "$kind: the next one has to delete it");
		like($session->query("SELECT run_error FROM bloom_published WHERE name = '$list'"), $seen, "$kind: and says why not") if !$deletable;
		all_found($list);
	}
	foreach my $statement (split /;\n/, $cure->{sql} =~ s/'account'/'$list'/gr =~ s/ *--.*//gr)
	{
		is($session->state_of($statement), '', "$kind: $statement");
	}
	$session->query('RESET zero_damaged_pages');
	is($session->query("SELECT count(*) FROM bloom_generation WHERE name = '$list'"), 1, "$kind: the cure took the generation before");
	foreach my $name ($list, 'whole')
	{
		is($session->state_of("CALL bloom_refresh('$name')"), '', "$kind: $name is published afterwards");
		is($session->state_of("CALL bloom_refresh('$name')"), '', "$kind: $name is published once more");
		all_found($name);
	}
}
$node->command_ok([ 'pg_dump', '-Fc', '-f', $dump, '-d', $node->connstr('postgres') ], 'and the database is dumped');

finish($node);
