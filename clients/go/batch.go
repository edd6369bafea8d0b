package bloomfilter

import (
	"runtime"
	"runtime/debug"
)

// batchKeys is how many keys wait for memory together.
const batchKeys = 32

// ContainsManyInt64 asks for many keys of type integer and writes the answers to
// found, which must be as long as keys.
func (f *Filter) ContainsManyInt64(keys []int64, found []bool) error {
	hash := func(key int64) (uint64, error) { return hashWord(uint64(key), f.seed), nil }
	return askBatch(f, Integer, keys, found, hash, IntegerKey)
}

// ContainsManyString does the same for keys of type text.
func (f *Filter) ContainsManyString(keys []string, found []bool) error {
	hash := func(key string) (uint64, error) {
		text, err := textOf(key)
		return hashOf(text, f.seed), err
	}
	return askBatch(f, Text, keys, found, hash, func(key string) Key { return Key{keyType: Text, long: withoutBlanks(key)} })
}

// ContainsMany does the same for keys made by functions such as UUIDKey.
func (f *Filter) ContainsMany(keys []Key, found []bool) error {
	hash := func(key Key) (uint64, error) { return key.hash(f.seed), f.checkKey(&key) }
	return askBatch(f, f.keyType, keys, found, hash, func(key Key) Key { return key })
}

// askBatch is the worker of all batches. Keys that have a hash are made only for the changes by day.
func askBatch[K any](f *Filter, t KeyType, keys []K, found []bool, hash func(K) (uint64, error), keyOf func(K) Key) (err error) {
	if len(found) != len(keys) {
		panic("bloomfilter: found is not as long as keys")
	}
	if err := f.checkType(t); err != nil {
		return err
	}
	if f.mapped != nil {
		defer catchFault(debug.SetPanicOnFault(true), &err)
		defer runtime.KeepAlive(f)
		if f.overwritten.Load() {
			return &ChangedFileError{}
		}
	}
	for from := 0; from < len(keys); from += batchKeys {
		few := keys[from:]
		if len(few) > batchKeys {
			few = few[:batchKeys]
		}
		if i, err := askFew(f, few, found[from:], hash, keyOf); err != nil {
			return &BatchError{from + i, err}
		}
	}
	return nil
}

// touched keeps the compiler from leaving out reads whose result nobody needs.
// It is only written in a case that never comes, so that goroutines don't share
// its cache line.
var touched uint64

// askFew answers for at most batchKeys keys. The changes by day come before the filter: what a
// publish takes out of them is in the filter by then. It reads the first byte of every key before
// it looks at any: these reads wait for memory together, as none depends on the one before. With
// an error it returns the number of the key that it is about.
func askFew[K any](f *Filter, keys []K, found []bool, hash func(K) (uint64, error), keyOf func(K) Key) (i int, err error) {
	var hashes [batchKeys]uint64
	var parts [batchKeys]*part
	var isChanged [batchKeys]bool
	var sum uint64
	hasChanges := f.changes != nil && f.changes.count() != 0
	for i = range keys {
		if hashes[i], err = hash(keys[i]); err != nil {
			return i, err
		}
		if hasChanges {
			found[i], isChanged[i], err = f.changes.ask(hashes[i], func() Key { return keyOf(keys[i]) })
			if err != nil {
				return i, err
			}
		}
	}
	for i = range keys {
		if parts[i], err = f.partFor(hashes[i]); err != nil {
			return i, err
		}
		sum += uint64(parts[i].firstByte(hashes[i]))
	}
	if sum > batchKeys*255 {
		touched = sum
	}
	for i = range keys {
		if !isChanged[i] {
			found[i] = parts[i].contains(hashes[i])
		}
	}
	return 0, nil
}
