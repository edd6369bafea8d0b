# look.rb: a list that is followed, asked in Ruby by the C library libbloomfilter.
#
#	ruby look.rb users.bloom
#
# WatchedBloomFilter is for a program of yours; the end asks it for each line of its input.
require 'fiddle/import'

module LibBloomFilter
  extend Fiddle::Importer
  dlload 'libbloomfilter.so.1'
  typealias 'int32_t', 'int'
  Detail = struct ['int code', 'int system_error', 'char text[512]']
  Status = struct ['int place', 'int serial_kind', 'unsigned long long serial', 'long long true_at', 'long long looked',
                   'long long age', 'long long every', 'long long heartbeat', 'long long expires', 'long long since',
                   'unsigned long long failures', 'unsigned long long superseded',
                   'char identity[40]', 'char list[216]', 'char word[24]', 'char text[264]']
  extern 'int bloomfilter_watched_open(char *, unsigned int, char *, void *, void *)'
  extern 'void bloomfilter_watched_close(void *)'
  extern 'int bloomfilter_reader_open(void *, void *)'
  extern 'void bloomfilter_reader_close(void *)'
  extern 'void *bloomfilter_reader_enter(void *)'
  extern 'void bloomfilter_reader_leave(void *)'
  extern 'int bloomfilter_contains_int64(void *, long long)'
  extern 'int bloomfilter_contains(void *, int, char *, size_t)'
  extern 'int bloomfilter_contains_int64_batch(void *, void *, size_t, void *, void *)'
  extern 'int bloomfilter_get_status(void *, void *, size_t)'
  extern 'char *bloomfilter_strerror(int)'
end

class WatchedBloomFilter
  class Error < StandardError; end

  KEY_TEXT = 2

  def self.text(chars)
    chars.pack('c*').unpack1('Z*').force_encoding('UTF-8')
  end

  def initialize(path)
    detail = LibBloomFilter::Detail.malloc(Fiddle::RUBY_FREE)
    @watched, code = pointer { |to| LibBloomFilter.bloomfilter_watched_open(path, 0, nil, to, detail) }
    raise Error, self.class.text(detail.text) if code.negative?

    @reader, code = pointer { |to| LibBloomFilter.bloomfilter_reader_open(@watched, to) }
    checked(code)
    @lock = Mutex.new                    # a reader is for one thread at a time
  end

  def contains(key)
    ask do |filter|
      next LibBloomFilter.bloomfilter_contains_int64(filter, key) if key.is_a?(Integer)

      bytes = key.encode('UTF-8')
      LibBloomFilter.bloomfilter_contains(filter, KEY_TEXT, bytes, bytes.bytesize)
    end == 1
  end

  def contains_many(keys)
    found = "\0" * keys.size
    ask { |filter| LibBloomFilter.bloomfilter_contains_int64_batch(filter, keys.pack('q*'), keys.size, found, nil) }
    found.bytes.map { |one| one == 1 }
  end

  def status
    status = LibBloomFilter::Status.malloc(Fiddle::RUBY_FREE)
    ask { |filter| LibBloomFilter.bloomfilter_get_status(filter, status, LibBloomFilter::Status.size) }
    status
  end

  def close
    @lock.synchronize do
      LibBloomFilter.bloomfilter_reader_close(@reader)
      LibBloomFilter.bloomfilter_watched_close(@watched)
    end
  end

  private

  # What a function puts where a pointer is to go, and what it returns.
  def pointer
    room = Fiddle::Pointer.malloc(Fiddle::SIZEOF_VOIDP, Fiddle::RUBY_FREE)
    code = yield room
    [room.ptr, code]
  end

  def ask
    @lock.synchronize do
      checked(yield(LibBloomFilter.bloomfilter_reader_enter(@reader)))
    ensure
      LibBloomFilter.bloomfilter_reader_leave(@reader)
    end
  end

  # An error says nothing of the key: it is raised, and never a "no".
  def checked(code)
    raise Error, LibBloomFilter.bloomfilter_strerror(code).to_s if code.negative?

    code
  end
end

def answer(filter, line)
  if line == 'status'
    status = filter.status
    return "list #{WatchedBloomFilter.text(status.list)} serial #{status.serial} word #{WatchedBloomFilter.text(status.word)}"
  end
  return filter.contains(line.delete_prefix('text ')).to_s if line.start_with?('text ')

  keys = line.split.map { |key| Integer(key) }
  (keys.size == 1 ? [filter.contains(keys[0])] : filter.contains_many(keys)).join(' ')
end

begin
  $stdout.sync = true
  filter = WatchedBloomFilter.new(ARGV[0])
  $stdin.each_line(chomp: true) { |line| puts answer(filter, line) }
  filter.close
rescue WatchedBloomFilter::Error => error
  warn error.message
  exit 2
end
