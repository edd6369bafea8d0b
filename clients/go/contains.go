package bloomfilter

// ContainsInt64 asks for a key of type smallint, integer or bigint.
func (f *Filter) ContainsInt64(key int64) (bool, error) {
	// What is asked most, without the calls that find out which part and which block.
	if f.plain != nil && f.keyType == Integer {
		return f.plain.lineContains(hashWord(uint64(key), f.seed)), nil
	}
	if f.changes != nil {
		own := IntegerKey(key)
		return f.askKey(&own)
	}
	if err := f.checkType(Integer); err != nil {
		return false, err
	}
	return f.ask(hashWord(uint64(key), f.seed))
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
	return f.askKey(&Key{keyType: Text, long: text})
}

// Contains asks for a key of any type.
func (f *Filter) Contains(key Key) (bool, error) {
	return f.askKey(&key)
}

// checkKey also refuses the zero Key, which stands for no value.
func (f *Filter) checkKey(key *Key) error {
	if key.keyType == None {
		return keyError(None, "the zero Key holds no value")
	}
	return f.checkType(key.keyType)
}
