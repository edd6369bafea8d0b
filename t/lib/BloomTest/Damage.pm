# Damages chunks of stored values in the files of a stopped server.
#
# TOAST tables can't be written by SQL, so a chunk's tuple is found by its ctid and
# changed in its page.  Data checksums must be off.
package BloomTest::Damage;

use strict;
use warnings;

use constant PAGE => 8192;
use constant PAGE_HEADER => 24;

# Before a chunk's bytes: chunk_id, chunk_seq, the varlena's length.
use constant CHUNK_HEADER => 12;

# Options of initdb by which pages have no checksums, which would see all of this.
sub initdb
{
	my ($version) = `initdb --version` =~ /(\d+)/;
	return $version >= 18 ? ['--no-data-checksums'] : [];
}

# Where the chunks of a table's only filter are: while the server runs.
sub locate
{
	my ($class, $session, $table) = @_;
	my ($toast, $path) = split /\|/, $session->query(<<"EOC");
SELECT reltoastrelid::regclass, pg_relation_filepath(reltoastrelid)
FROM pg_class WHERE oid = '$table'::regclass
EOC
	my %chunks = map { split /\|/ } split /\n/,
	  $session->query("SELECT chunk_seq, ctid FROM $toast");
	return bless { path => $path, chunks => \%chunks }, $class;
}

# Where the first chunks of a table's filters are: number i is that of row i, from 0,
# if the rows were inserted in their order and each has one filter.
sub locate_starts
{
	my ($class, $session, $table) = @_;
	my $self = $class->locate($session, $table);
	my ($toast) = $session->query("SELECT reltoastrelid::regclass FROM pg_class WHERE oid = '$table'::regclass");
	my @starts = split /\n/,
	  $session->query("SELECT ctid FROM $toast WHERE chunk_seq = 0 ORDER BY chunk_id");
	$self->{chunks} = { map { $_ => $starts[$_] } 0 .. $#starts };
	return $self;
}

# The number of chunks.
sub count
{
	my ($self) = @_;
	return scalar keys %{ $self->{chunks} };
}

# Opens the file and finds a chunk's line pointer and tuple.
sub _open
{
	my ($self, $node, $seq) = @_;
	my ($block, $line) = $self->{chunks}{$seq} =~ /\((\d+),(\d+)\)/
	  or die "no chunk $seq";
	my $path = $node->data_dir . "/$self->{path}";
	open(my $file, '+<:raw', $path) or die "$path: $!";
	my $pointer_at = $block * PAGE + PAGE_HEADER + ($line - 1) * 4;
	my $tuple_at = $block * PAGE + (_read($file, $pointer_at, 'V') & 0x7fff);
	my $data_at = $tuple_at + _read($file, $tuple_at + 22, 'C');
	return ($file, $pointer_at, $data_at, $tuple_at);
}

sub _read
{
	my ($file, $at, $format) = @_;
	my $size = length pack($format, 0);
	seek($file, $at, 0) or die $!;
	read($file, my $bytes, $size) == $size or die 'short read';
	return unpack($format, $bytes);
}

sub _write
{
	my ($file, $at, $format, $value) = @_;
	seek($file, $at, 0) or die $!;
	print $file pack($format, $value);
	close($file) or die $!;
	return;
}

# Changes bits of one byte of a chunk.
sub flip
{
	my ($self, $node, $seq, $offset, $mask) = @_;
	my ($file, undef, $data_at) = $self->_open($node, $seq);
	my $at = $data_at + CHUNK_HEADER + $offset;
	_write($file, $at, 'C', _read($file, $at, 'C') ^ $mask);
	return;
}

# Lets a chunk say that it is shorter by some bytes.
sub shorten
{
	my ($self, $node, $seq, $bytes) = @_;
	my ($file, undef, $data_at) = $self->_open($node, $seq);
	my $at = $data_at + CHUNK_HEADER - 4;
	_write($file, $at, 'V', _read($file, $at, 'V') - $bytes * 4);
	return;
}

# Takes a chunk away: an unused line pointer.
sub remove
{
	my ($self, $node, $seq) = @_;
	my ($file, $pointer_at) = $self->_open($node, $seq);
	_write($file, $pointer_at, 'V', 0);
	return;
}

# Makes a chunk another value's.
sub disown
{
	my ($self, $node, $seq) = @_;
	my ($file, undef, $data_at) = $self->_open($node, $seq);
	_write($file, $data_at, 'V', _read($file, $data_at, 'V') + 1);
	return;
}

# Makes a chunk one that the next transaction has written.
sub rewrite
{
	my ($self, $node, $seq) = @_;
	my ($file, undef, undef, $tuple_at) = $self->_open($node, $seq);
	_write($file, $tuple_at, 'V', _read($file, $tuple_at, 'V') + 1);
	return;
}

# Puts one chunk's number on another.
sub renumber
{
	my ($self, $node, $seq, $number) = @_;
	my ($file, undef, $data_at) = $self->_open($node, $seq);
	_write($file, $data_at + 4, 'V', $number);
	return;
}

1;
