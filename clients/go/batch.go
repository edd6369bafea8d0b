package bloomfilter

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// batchKeys is how many keys wait for memory together.
const batchKeys = 32

// ContainsManyInt64 asks for many keys of type integer and writes the answers to
// found, which must be as long as keys.
func (f *Filter) ContainsManyInt64(keys []int64, found []bool) error {
	return askBatch(f, Integer, keys, found, hashInt64s, func(key int64) (Key, error) { return IntegerKey(key), nil })
}

// ContainsManyString does the same for keys of type text.
func (f *Filter) ContainsManyString(keys []string, found []bool) error {
	return askBatch(f, Text, keys, found, hashStrings, TextKey)
}

// ContainsMany does the same for keys made by functions such as UUIDKey.
func (f *Filter) ContainsMany(keys []Key, found []bool) error {
	return askBatch(f, f.keyType, keys, found, hashKeys, func(key Key) (Key, error) { return key, nil })
}

// hashes are those of the keys that wait for memory together.
type hashes [batchKeys]uint64

// hashesPool is there because what is passed to a function value would be
// allocated for every batch.
var hashesPool = sync.Pool{New: func() any { return new(hashes) }}

// hashMany makes the hashes of at most batchKeys keys. It returns how many it
// made, and an error if that is not all.
type hashMany[K any] func(f *Filter, keys []K, to *hashes) (int, error)

func hashInt64s(f *Filter, keys []int64, to *hashes) (int, error) {
	for i, key := range keys {
		to[i] = hashWord(uint64(key), f.seed)
	}
	return len(keys), nil
}

func hashStrings(f *Filter, keys []string, to *hashes) (int, error) {
	for i, key := range keys {
		text, err := textOf(key)
		if err != nil {
			return i, err
		}
		to[i] = hashOf(text, f.seed)
	}
	return len(keys), nil
}

func hashKeys(f *Filter, keys []Key, to *hashes) (int, error) {
	for i := range keys {
		if err := f.checkKey(&keys[i]); err != nil {
			return i, err
		}
		to[i] = keys[i].hash(f.seed)
	}
	return len(keys), nil
}

// askBatch is the worker of all batches.
func askBatch[K any](f *Filter, t KeyType, keys []K, found []bool, hash hashMany[K], keyOf func(K) (Key, error)) (err error) {
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
	few := hashesPool.Get().(*hashes)
	defer hashesPool.Put(few)
	var byDay changed
	for from := 0; from < len(keys); from += batchKeys {
		to := from + batchKeys
		if to > len(keys) {
			to = len(keys)
		}
		if i, err := hash(f, keys[from:to], few); err != nil {
			return &BatchError{from + i, err}
		}
		isChanged := f.changes != nil && f.changes.count() != 0
		if isChanged {
			if i, err := askChanged(f.changes, few, keys[from:to], keyOf, &byDay); err != nil {
				return &BatchError{from + i, err}
			}
		}
		if i, err := f.askFew(few, found[from:to]); err != nil {
			return &BatchError{from + i, err}
		}
		for i := 0; isChanged && i < to-from; i++ {
			if byDay[i].is {
				found[from+i] = byDay[i].found
			}
		}
	}
	return nil
}

// touched keeps the compiler from leaving out reads whose result nobody needs.
// It is only written in a case that never comes, so that goroutines don't share
// its cache line.
var touched uint64

// askFew answers for as many hashes as found has places. It reads the first byte
// of every key before it looks at any: these reads wait for memory together, as
// none depends on the one before. With an error it returns the number of the hash
// that it is about.
func (f *Filter) askFew(few *hashes, found []bool) (int, error) {
	var parts [batchKeys]*part
	var sum uint64
	p := f.parts[0]
	for i := range found {
		hash := few[i&(batchKeys-1)]
		if f.total != 1 {
			var err error
			if p, err = f.partFor(hash); err != nil {
				return i, err
			}
		}
		parts[i&(batchKeys-1)] = p
		sum += uint64(p.firstByte(hash))
	}
	if sum > batchKeys*255 {
		touched = sum
	}
	for i := range found {
		found[i] = parts[i&(batchKeys-1)].contains(few[i&(batchKeys-1)])
	}
	return len(found), nil
}
