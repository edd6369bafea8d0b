package bloomfilter

import (
	"runtime"
	"runtime/debug"

	"github.com/OneOfOne/xxhash"
)

// batchKeys is how many keys wait for memory together.
const batchKeys = 32

// ContainsInt64s asks for many keys of type integer and writes the answers to
// found, which must be as long as keys.
func (f *Filter) ContainsInt64s(keys []int64, found []bool) error {
	return askBatch(f, Integer, keys, found, func(key int64) (uint64, error) {
		return hashWord(uint64(key), f.seed), nil
	})
}

// ContainsStrings does the same for keys of type text.
func (f *Filter) ContainsStrings(keys []string, found []bool) error {
	return askBatch(f, Text, keys, found, func(key string) (uint64, error) {
		return xxhash.ChecksumString64S(key, f.seed), checkText(key)
	})
}

// ContainsKeys does the same for keys made by functions such as UUIDKey.
func (f *Filter) ContainsKeys(keys []Key, found []bool) error {
	return askBatch(f, f.keyType, keys, found, func(key Key) (uint64, error) {
		return key.hash(f.seed), f.checkKey(&key)
	})
}

// askBatch is the worker of all batches; hash makes the hash of a key or says
// why it has none.
func askBatch[K any](f *Filter, t KeyType, keys []K, found []bool,
	hash func(K) (uint64, error)) error {
	if len(found) != len(keys) {
		panic("bloomfilter: found is not as long as keys")
	}
	if err := f.checkType(t); err != nil {
		return err
	}
	for from := 0; from < len(keys); from += batchKeys {
		to := from + batchKeys
		if to > len(keys) {
			to = len(keys)
		}
		if err := askFew(f, from, keys[from:to], found[from:to], hash); err != nil {
			return err
		}
	}
	return nil
}

// askFew answers for at most batchKeys keys. base is the number of the first.
func askFew[K any](f *Filter, base int, keys []K, found []bool,
	hash func(K) (uint64, error)) (err error) {
	var hashes [batchKeys]uint64
	var parts [batchKeys]*part

	for i, key := range keys {
		if hashes[i], err = hash(key); err == nil {
			parts[i], err = f.partFor(hashes[i])
		}
		if err != nil {
			return &BatchError{base + i, err}
		}
	}
	if f.mapped == nil {
		answer(&hashes, &parts, found)
		return nil
	}
	defer catchFault(debug.SetPanicOnFault(true), &err)
	answer(&hashes, &parts, found)
	runtime.KeepAlive(f)
	return nil
}

// touched keeps the compiler from leaving out reads whose result nobody needs.
// It is only written in a case that never comes, so that goroutines don't share
// its cache line.
var touched uint64

func answer(hashes *[batchKeys]uint64, parts *[batchKeys]*part, found []bool) {
	var sum uint64
	for i := range found {
		sum += uint64(parts[i].touch(hashes[i]))
	}
	if sum > batchKeys*255 {
		touched = sum
	}
	for i := range found {
		found[i] = parts[i].contains(hashes[i])
	}
}
