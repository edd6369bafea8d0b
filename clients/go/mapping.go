package bloomfilter

// mapping is a file's bytes, mapped or read.
type mapping struct {
	bytes    []byte
	isMapped bool
}
