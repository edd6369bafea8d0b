<?php
// look.php: a list that is followed, asked in PHP by the C library libbloomfilter.
//
//	php look.php users.bloom		on a web server PHP wants the class by opcache.preload

final class WatchedBloomFilter
{
    private FFI $c;
    private FFI\CData $watched, $reader;

    public function __construct(string $path)
    {
        // Of bloomfilter_status the first fields: of the others as many as you need.
        $this->c = FFI::cdef('
            typedef struct { uint64_t serial; int64_t true_at, age; char reason[24], message[264]; } status;
            int bloomfilter_watched_open(const char *path, unsigned flags, const char *identity, void **watched, char *detail);
            int bloomfilter_reader_open(void *watched, void **reader);
            void *bloomfilter_reader_enter(void *reader);
            void bloomfilter_reader_leave(void *reader);
            int bloomfilter_contains(void *filter, int key_type, const char *bytes, size_t length);
            int bloomfilter_contains_int64_batch(void *filter, const int64_t *keys, size_t count, uint8_t *found, size_t *answered);
            int bloomfilter_get_status(void *filter, status *status, size_t size);
            const char *bloomfilter_strerror(int code);', 'libbloomfilter.so.1');
        [$this->watched, $this->reader, $detail] = array_map($this->c->new(...), ['void *', 'void *', 'char[520]']);
        if ($this->c->bloomfilter_watched_open($path, 0, null, FFI::addr($this->watched), $detail) < 0) {
            throw new RuntimeException(FFI::string($detail));
        }
        $this->c->bloomfilter_reader_open($this->watched, FFI::addr($this->reader));
    }

    // An error says nothing of the key: it is thrown, and never a "no".
    private function ask(callable $question): bool
    {
        $code = $question($this->c->bloomfilter_reader_enter($this->reader));
        $this->c->bloomfilter_reader_leave($this->reader);
        return $code < 0 ? throw new RuntimeException($this->c->bloomfilter_strerror($code)) : $code === 1;
    }

    public function containsText(string $key): bool
    {
        return $this->ask(fn ($filter) => $this->c->bloomfilter_contains($filter, 2, $key, strlen($key)));  // BLOOMFILTER_KEY_TEXT
    }

    public function contains(int ...$keys): array
    {
        $count = count($keys);
        [$ids, $found] = [$this->c->new("int64_t[$count]"), $this->c->new("uint8_t[$count]")];
        FFI::memcpy($ids, pack('q*', ...$keys), 8 * $count);
        $this->ask(fn ($filter) => $this->c->bloomfilter_contains_int64_batch($filter, $ids, $count, $found, null));
        return array_map(fn ($i) => $found[$i] === 1, array_keys($keys));
    }

    public function status(): FFI\CData
    {
        $status = $this->c->new('status');
        $this->ask(fn ($filter) => $this->c->bloomfilter_get_status($filter, FFI::addr($status), FFI::sizeof($status)));
        return $status;
    }
}

$filter = new WatchedBloomFilter($argv[1]);
while (($line = fgets(STDIN)) !== false) {
    $line = rtrim($line, "\n");
    echo match (true) {
        $line === 'status' => sprintf('serial %u reason %s', $filter->status()->serial, FFI::string($filter->status()->reason)),
        str_starts_with($line, 'text ') => json_encode($filter->containsText(substr($line, 5))),
        default => implode(' ', array_map('json_encode', $filter->contains(...array_map('intval', explode(' ', $line))))),
    }, "\n";
}
