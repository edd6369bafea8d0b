# look.rb: a list that is followed, asked in Ruby by the C library libbloomfilter.
#
#	ruby look.rb users.bloom
require 'fiddle/import'

module LibBloomFilter
  extend Fiddle::Importer
  dlload 'libbloomfilter.so.1'
  # The first fields of bloomfilter_status: of the others as many as you need.
  Status = struct ['unsigned long long serial', 'long long true_at', 'long long age', 'char reason[24]', 'char message[264]']
  extern 'int bloomfilter_watched_open(char *, unsigned int, char *, void *, char *)'
  extern 'int bloomfilter_reader_open(void *, void *)'
  extern 'void *bloomfilter_reader_enter(void *)'
  extern 'void bloomfilter_reader_leave(void *)'
  extern 'int bloomfilter_contains(void *, int, char *, size_t)'
  extern 'int bloomfilter_contains_int64_batch(void *, char *, size_t, char *, void *)'
  extern 'int bloomfilter_get_status(void *, void *, size_t)'
  extern 'char *bloomfilter_strerror(int)'
end

class WatchedBloomFilter
  def initialize(path)
    detail = "\0" * 520                  # bloomfilter_detail, which begins with its text
    watched, @reader = Array.new(2) { Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE) }
    code = LibBloomFilter.bloomfilter_watched_open(path, 0, nil, watched, detail)
    raise IOError, detail.unpack1('Z*') if code.negative?

    LibBloomFilter.bloomfilter_reader_open(watched.ptr, @reader)
    @lock = Mutex.new                    # a reader is for one thread at a time
  end

  # An error says nothing of the key: it is raised, and never a "no".
  def ask
    @lock.synchronize do
      code = yield LibBloomFilter.bloomfilter_reader_enter(@reader.ptr)
      LibBloomFilter.bloomfilter_reader_leave(@reader.ptr)
      code.negative? ? raise(IOError, LibBloomFilter.bloomfilter_strerror(code).to_s) : code == 1
    end
  end

  def contains_text(key) = ask { |filter| LibBloomFilter.bloomfilter_contains(filter, 2, key, key.bytesize) } # BLOOMFILTER_KEY_TEXT

  def contains(*keys)
    found = "\0" * keys.size
    ask { |filter| LibBloomFilter.bloomfilter_contains_int64_batch(filter, keys.pack('q*'), keys.size, found, nil) }
    found.bytes.map { |one| one == 1 }
  end

  def status
    LibBloomFilter::Status.malloc(Fiddle::RUBY_FREE).tap do |status|
      ask { |filter| LibBloomFilter.bloomfilter_get_status(filter, status, LibBloomFilter::Status.size) }
    end
  end
end

$stdout.sync = true
filter = WatchedBloomFilter.new(ARGV[0])
$stdin.each_line(chomp: true) do |line|
  puts case line
       when 'status' then "serial #{filter.status.serial} reason #{filter.status.reason.pack('c*').unpack1('Z*')}"
       when /\Atext (.*)/ then filter.contains_text($1)
       else filter.contains(*line.split.map(&:to_i)).join(' ')
       end
end
