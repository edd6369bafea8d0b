// Package bloomfilter asks filters that the PostgreSQL extension bloomfilter
// has built, without the database.
//
// A filter answers "no" or "perhaps". "No" is always right: a key that was
// added is never denied. "Perhaps" is wrong for a small share of the keys that
// were never added, the rate that the filter was built for.
//
//	filter, err := bloomfilter.Open("users.bloom")
//	if err != nil {
//		return err
//	}
//	known, err := filter.ContainsInt64(42)
//
// Whatever could make an answer wrong is an error: damaged bytes, a key of
// another type than the filter holds, a key of a part that was not opened, a
// value that has no key bytes. The answer that comes with an error means
// nothing.
package bloomfilter
