package bloomfilter

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// Filter is a whole filter, a whole set of parts, or a single part of a set. But for a
// followed file, to which keys come, it never changes, and any number of goroutines may ask it at once.
//
// There is nothing to close. The file is not held open, and its memory is
// released by the garbage collector when the Filter is no longer reachable: a
// Close beside a running look-up would be a crash.
type Filter struct {
	parts    []*part
	first    uint64 // number of the first of parts in its set
	total    uint64 // parts of the whole set
	seed     uint64
	keyType  KeyType
	mapped   *mapping  // kept reachable as long as the filter is
	followed *followed // the file that it lies in or was copied from, or nil
	changes  *changes  // of a tracked list, or nil
	plain    *part     // a whole filter in memory whose blocks are cache lines, or nil
	stamp    stamp     // of the file that it was opened from

	overwritten atomic.Bool // whether a WatchedFilter found other bytes in a followed file
}

// checkType refuses keys that the filter can't hold. A filter without keys
// answers for all types.
func (f *Filter) checkType(t KeyType) error {
	if f.keyType != t && f.keyType != None {
		return &KeyTypeError{f.keyType, t}
	}
	return nil
}

// partFor returns the part that a hash belongs to.
func (f *Filter) partFor(hash uint64) (*part, error) {
	if f.total == 1 {
		return f.parts[0], nil
	}
	number := partOf(hash, f.total)
	if number-f.first >= uint64(len(f.parts)) {
		return nil, &PartError{int(f.first), int(number), int(f.total)}
	}
	return f.parts[number-f.first], nil
}

// ContainsInt64 asks for a key of type smallint, integer or bigint.
func (f *Filter) ContainsInt64(key int64) (bool, error) {
	// What is asked most, without the calls that find out which part and which block.
	if f.plain != nil && f.keyType == Integer {
		return f.plain.lineContains(hashWord(uint64(key), f.seed)), nil
	}
	if err := f.checkType(Integer); err != nil {
		return false, err
	}
	return f.ask(hashWord(uint64(key), f.seed), func() Key { return IntegerKey(key) })
}

// ContainsString asks for a key of type text. It must be valid UTF-8.
func (f *Filter) ContainsString(key string) (bool, error) {
	if err := f.checkType(Text); err != nil {
		return false, err
	}
	text, err := textOf(key)
	if err != nil {
		return false, err
	}
	return f.Contains(Key{keyType: Text, long: text})
}

// Contains asks for a key of any type.
func (f *Filter) Contains(key Key) (bool, error) {
	if err := f.checkKey(&key); err != nil {
		return false, err
	}
	return f.ask(key.hash(f.seed), func() Key { return key })
}

// checkKey also refuses the zero Key, which stands for no value.
func (f *Filter) checkKey(key *Key) error {
	if key.keyType == None {
		return keyError(None, "the zero Key holds no value")
	}
	return f.checkType(key.keyType)
}

// ask answers for a hash. The key's type has been checked.
func (f *Filter) ask(hash uint64, key func() Key) (bool, error) {
	if f.mapped != nil {
		return f.askMapped(hash, key)
	}
	return f.answer(hash, key)
}

// askMapped turns a fault on mapped memory into an error.
func (f *Filter) askMapped(hash uint64, key func() Key) (found bool, err error) {
	defer catchFault(debug.SetPanicOnFault(true), &err)
	defer runtime.KeepAlive(f)
	if f.overwritten.Load() {
		return false, &ChangedFileError{}
	}
	return f.answer(hash, key)
}

func (f *Filter) answer(hash uint64, key func() Key) (bool, error) {
	if f.changes != nil && f.changes.count() != 0 {
		if found, changed, err := f.changes.ask(hash, key); changed || err != nil {
			return found, err
		}
	}
	p, err := f.partFor(hash)
	if err != nil {
		return false, err
	}
	return p.contains(hash), nil
}

// guarded is an error if there is a fault on mapped memory while it is used.
func guarded(use func()) (err error) {
	defer catchFault(debug.SetPanicOnFault(true), &err)
	use()
	return nil
}

// catchFault is deferred, with the goroutine's setting before, and by itself: within another
// deferred function it could not recover. Faults become an error; all other panics go on.
func catchFault(before bool, err *error) {
	debug.SetPanicOnFault(before)
	reason := recover()
	if reason == nil {
		return
	}
	if _, isFault := reason.(interface{ Addr() uintptr }); !isFault {
		panic(reason)
	}
	*err = &ChangedFileError{}
}
