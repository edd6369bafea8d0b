package bloomfilter

import "fmt"

// InvalidFilterError says that bytes are not a valid filter.
type InvalidFilterError struct {
	Rule   string // the word of the first broken rule, as section 7 of doc/FORMAT.md has it
	Reason string // it in a sentence
}

func (e *InvalidFilterError) Error() string {
	return "invalid bloomfilter: " + e.Reason
}

func invalid(rule, format string, args ...any) error {
	return &InvalidFilterError{rule, fmt.Sprintf(format, args...)}
}

// KeyTypeError says that a filter was asked for a key of a type that it does
// not hold. Its answer would be "no" for every key, so it is none.
type KeyTypeError struct {
	Holds, Asked KeyType
}

func (e *KeyTypeError) Error() string {
	return fmt.Sprintf("bloomfilter holds %s keys, not %s", e.Holds, e.Asked)
}

// PartError says that a key belongs to a part of the set that was not opened.
type PartError struct {
	Part   int // the part that was opened
	Wanted int // the part that the key belongs to
	Parts  int // the parts of the whole set
}

func (e *PartError) Error() string {
	return fmt.Sprintf("key belongs to part %d of %d, and only part %d is open", e.Wanted, e.Parts, e.Part)
}

// KeyValueError says that a value has no key bytes, such as a string that is not
// UTF-8 or a time with nanoseconds.
type KeyValueError struct {
	Type   KeyType
	Reason string
}

func (e *KeyValueError) Error() string {
	return fmt.Sprintf("not a %s key: %s", e.Type, e.Reason)
}

func keyError(t KeyType, format string, args ...any) error {
	return &KeyValueError{t, fmt.Sprintf(format, args...)}
}

// BatchError says which key of a batch could not be asked for. All answers of
// the batch are then without meaning.
type BatchError struct {
	Index int
	Err   error
}

func (e *BatchError) Error() string {
	return fmt.Sprintf("key %d: %v", e.Index, e.Err)
}

// Unwrap returns the key's own error.
func (e *BatchError) Unwrap() error { return e.Err }

// ChangesError says that the changes by day of a followed file are damaged.
type ChangesError struct{}

func (e *ChangesError) Error() string { return "table of changes is damaged" }

// ChangedFileError says that somebody cut or overwrote a file that is open, instead of
// renaming a new one over it, or that its follower found it damaged. Of a watched filter each question is this error until there
// is a new one.
type ChangedFileError struct{}

func (e *ChangedFileError) Error() string {
	return "bloomfilter file was cut short, overwritten, or found damaged by its follower"
}
