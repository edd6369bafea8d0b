<?php
// look.php: a list that is followed, asked in PHP by the C library libbloomfilter.
//
//	php look.php users.bloom		on a web server PHP wants the class by opcache.preload
//
// WatchedBloomFilter is for a program of yours; the end asks it for each line of its input.

final class WatchedBloomFilter
{
    private const KEY_TEXT = 2;
    private FFI $c;
    private FFI\CData $watched, $reader;

    public function __construct(string $path)
    {
        $this->c = FFI::cdef('
            typedef struct { int code; int system_error; char text[512]; } detail;
            typedef struct { int32_t place, serial_kind; uint64_t serial; int64_t true_at, looked, age, every, heartbeat, expires, since;
                uint64_t failures, superseded; char identity[40]; char list[216]; char word[24]; char text[264]; } status;
            int bloomfilter_watched_open(const char *path, unsigned flags, const char *identity, void **watched, detail *detail);
            void bloomfilter_watched_close(void *watched);
            int bloomfilter_reader_open(void *watched, void **reader);
            void bloomfilter_reader_close(void *reader);
            void *bloomfilter_reader_enter(void *reader);
            void bloomfilter_reader_leave(void *reader);
            int bloomfilter_contains_int64(void *filter, int64_t key);
            int bloomfilter_contains(void *filter, int key_type, const char *bytes, size_t length);
            int bloomfilter_contains_int64_batch(void *filter, const int64_t *keys, size_t count, uint8_t *found, size_t *answered);
            int bloomfilter_get_status(void *filter, status *status, size_t size);
            const char *bloomfilter_strerror(int code);', 'libbloomfilter.so.1');
        $this->watched = $this->c->new('void *');
        $this->reader = $this->c->new('void *');
        $detail = $this->c->new('detail');
        if ($this->c->bloomfilter_watched_open($path, 0, null, FFI::addr($this->watched), FFI::addr($detail)) < 0) {
            throw new RuntimeException(FFI::string($detail->text));
        }
        $this->checked($this->c->bloomfilter_reader_open($this->watched, FFI::addr($this->reader)));
    }

    public function __destruct()
    {
        if (isset($this->reader) && !FFI::isNull($this->reader)) {
            $this->c->bloomfilter_reader_close($this->reader);
            $this->c->bloomfilter_watched_close($this->watched);
        }
    }

    // An error says nothing of the key: it is thrown, and never a "no".
    private function checked(int $code): bool
    {
        if ($code < 0) {
            throw new RuntimeException($this->c->bloomfilter_strerror($code));
        }
        return $code === 1;
    }

    private function ask(callable $question): mixed
    {
        try {
            return $question($this->c->bloomfilter_reader_enter($this->reader));
        } finally {
            $this->c->bloomfilter_reader_leave($this->reader);
        }
    }

    public function contains(int|string $key): bool
    {
        return $this->ask(fn ($filter) => $this->checked(is_int($key)
            ? $this->c->bloomfilter_contains_int64($filter, $key)
            : $this->c->bloomfilter_contains($filter, self::KEY_TEXT, $key, strlen($key))));
    }

    /** @param list<int> $keys */
    public function containsMany(array $keys): array
    {
        $count = count($keys);
        $ids = $this->c->new("int64_t[$count]");
        foreach ($keys as $i => $key) {
            $ids[$i] = $key;
        }
        $found = $this->c->new("uint8_t[$count]");
        $this->ask(fn ($filter) => $this->checked($this->c->bloomfilter_contains_int64_batch($filter, $ids, $count, $found, null)));
        return array_map(fn ($i) => $found[$i] === 1, array_keys($keys));
    }

    public function status(): FFI\CData
    {
        $status = $this->c->new('status');
        $this->ask(fn ($filter) => $this->checked($this->c->bloomfilter_get_status($filter, FFI::addr($status), FFI::sizeof($status))));
        return $status;
    }
}

function answer(WatchedBloomFilter $filter, string $line): string
{
    if ($line === 'status') {
        $status = $filter->status();
        return sprintf('list %s serial %u word %s', FFI::string($status->list), $status->serial, FFI::string($status->word));
    }
    $keys = array_map('intval', explode(' ', $line));
    $found = match (true) {
        str_starts_with($line, 'text ') => [$filter->contains(substr($line, 5))],
        count($keys) === 1 => [$filter->contains($keys[0])],
        default => $filter->containsMany($keys),
    };
    return implode(' ', array_map(fn ($one) => $one ? 'true' : 'false', $found));
}

try {
    $filter = new WatchedBloomFilter($argv[1]);
    while (($line = fgets(STDIN)) !== false) {
        echo answer($filter, rtrim($line, "\n")), "\n";
    }
} catch (RuntimeException $error) {
    fwrite(STDERR, $error->getMessage() . "\n");
    exit(2);
}
