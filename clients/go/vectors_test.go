package bloomfilter

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const vectors = "../../test/vectors"

type vector map[string]string

// readRows reads a file of golden vectors, columns by their names.
func readRows(t *testing.T, name string) (rows []vector) {
	t.Helper()
	file, err := os.Open(filepath.Join(vectors, name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	lines.Scan()
	names := strings.Split(strings.TrimPrefix(lines.Text(), "#"), "\t")
	for lines.Scan() {
		r := vector{}
		for i, field := range strings.Split(lines.Text(), "\t") {
			r[names[i]] = field
		}
		rows = append(rows, r)
	}
	if lines.Err() != nil || len(rows) == 0 {
		t.Fatalf("%s: %d rows, %v", name, len(rows), lines.Err())
	}
	return rows
}

func (r vector) bytes(t *testing.T, column string) []byte {
	t.Helper()
	b, err := hex.DecodeString(r[column])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (r vector) number(t *testing.T, column string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(r[column], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// keyType is the type of a filter's keys, of rows with their columns.
func (r vector) keyType(t *testing.T) KeyType {
	t.Helper()
	if columns := r["columns"]; columns == "-" || columns == "" {
		return KeyType(r.number(t, "key_type"))
	}
	var columns []KeyType
	for _, text := range strings.Split(r["columns"], ",") {
		number, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, KeyType(number))
	}
	return RowType(columns...)
}

// keys makes keys of a column with a list of key bytes.
func (r vector) keys(t *testing.T, column string) (keys []Key) {
	t.Helper()
	if r[column] == "-" {
		return nil
	}
	keyType := r.keyType(t)
	if keyType == None {
		keyType = Integer
	}
	for _, digits := range strings.Split(r[column], ",") {
		b, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, Key{keyType: keyType, long: string(b)})
	}
	return keys
}

func TestKeyVectors(t *testing.T) {
	for i, r := range readRows(t, "keys.tsv") {
		t.Run(fmt.Sprint(i), func(t *testing.T) { checkKeyVector(t, r) })
	}
}

func checkKeyVector(t *testing.T, r vector) {
	key := Key{keyType: KeyType(r.number(t, "key_type")), long: string(r.bytes(t, "key_hex"))}
	hash := key.hash(r.number(t, "seed"))
	if got := fmt.Sprintf("%016x", hash); got != r["hash_hex"] {
		t.Fatalf("hash %s, not %s", got, r["hash_hex"])
	}
	if got := partOf(hash, r.number(t, "parts")); got != r.number(t, "part") {
		t.Errorf("part %d, not %s", got, r["part"])
	}
	if len(key.long) == 8 && hashWord(load64(key.long, 0), r.number(t, "seed")) != hash {
		t.Errorf("the hash of the word is another one")
	}
	checkBits(t, r, hash)
	checkRaw(t, r)
}

var zeroed []byte

// zeroBytes shares one array between the rows, of the largest size that any
// needs. Only the touched pages of it cost memory.
func zeroBytes(count uint64) []byte {
	if zeroed == nil {
		zeroed = make([]byte, maxBytes)
	}
	return zeroed[:count]
}

// checkBits asks a filter that ends with the wanted block, in which nothing but the wanted bits is set, and
// then one of them less: so the code under test is what users run.
func checkBits(t *testing.T, r vector, hash uint64) {
	t.Helper()
	p := newPart(&header{
		probes:    uint8(r.number(t, "k")),
		log2Block: uint8(r.number(t, "log2_block_bits")),
		blocks:    uint32(r.number(t, "blocks")),
	}, nil)
	start := r.number(t, "block") << p.blockShift
	p.blocks = zeroBytes(start + 1<<p.blockShift)
	bits := map[uint64]bool{}
	for _, text := range strings.Split(r["bits"], ",") {
		bit, _ := strconv.ParseUint(text, 10, 64)
		bits[bit] = true
	}
	flip := func(bit uint64) { p.blocks[start+bit>>3] ^= 1 << (bit & 7) }
	for bit := range bits {
		flip(bit)
		defer flip(bit)
	}
	if !p.contains(hash) {
		t.Errorf("the key is denied though its bits are set")
	}
	for bit := range bits {
		flip(bit)
		if p.contains(hash) {
			t.Errorf("bit %d is not looked at", bit)
		}
		flip(bit)
	}
}

// checkRaw makes the key of its bytes, and that of a row anew from its columns.
func checkRaw(t *testing.T, r vector) {
	t.Helper()
	keyType, raw := KeyType(r.number(t, "key_type")), r.bytes(t, "key_hex")
	if keyType == row {
		types, _ := columnsOf(raw)
		var columns []Key
		for rest := raw; len(rest) > 0; {
			end := 5 + load32(rest, 1)
			columns = append(columns, Key{keyType: types[len(columns)], long: string(rest[5:end])})
			rest = rest[end:]
		}
		made, err := RowKey(columns...)
		checkBytes(t, made, err, r["key_hex"])
		keyType = RowType(types...)
	}
	key, err := RawKey(keyType, raw)
	checkBytes(t, key, err, r["key_hex"])
}

func TestFilterVectors(t *testing.T) {
	for _, r := range readRows(t, "filters.tsv") {
		t.Run(r["name"], func(t *testing.T) { checkFilterVector(t, r) })
	}
}

func checkFilterVector(t *testing.T, r vector) {
	f := mustParse(t, r.bytes(t, "filter_hex"))
	checkFields(t, f, r)
	checkAnswers(t, f, r.keys(t, "keys"), true)
	checkAnswers(t, f, r.keys(t, "absent"), false)
	checkAnswers(t, f, r.keys(t, "false_positives"), true)
	checkOtherType(t, f)
	checkOtherParts(t, f)
}

func checkFields(t *testing.T, f *Filter, r vector) {
	t.Helper()
	h := f.parts[0].header
	for column, value := range map[string]any{
		"n": h.capacity, "seed": h.seed, "k": h.probes,
		"log2_block_bits": h.log2Block, "blocks": h.blocks, "part": h.part,
		"parts": h.parts, "key_type": uint8(h.keyType & 0xff), "bits_set": h.bitsSet,
	} {
		if got := fmt.Sprint(value); got != r[column] {
			t.Errorf("%s is %s, not %s", column, got, r[column])
		}
	}
	if h.keyType != r.keyType(t) {
		t.Errorf("keys are %s, not %s", h.keyType, r.keyType(t))
	}
	if got := fmt.Sprintf("%016x", h.checksum); got != r["checksum_hex"] {
		t.Errorf("checksum is %s, not %s", got, r["checksum_hex"])
	}
	if want, _ := strconv.ParseFloat(r["p"], 64); h.rate != want {
		t.Errorf("p is %v, not %s", h.rate, r["p"])
	}
}

// checkAnswers asks for the keys in all ways: one by one and in batches, by Key and by value.
func checkAnswers(t *testing.T, f *Filter, keys []Key, want bool) {
	t.Helper()
	var integers []int64
	var texts []string
	check := func(key Key, found bool, err error) {
		t.Helper()
		if err != nil || found != want {
			t.Errorf("%x: %v, %v", key.AppendTo(nil), found, err)
		}
	}
	for _, key := range keys {
		found, err := f.Contains(key)
		check(key, found, err)
		switch text := string(key.AppendTo(nil)); key.Type() {
		case Integer:
			integers = append(integers, int64(load64(text, 0)))
			found, err = f.ContainsInt64(integers[len(integers)-1])
		case Text:
			texts = append(texts, text)
			found, err = f.ContainsString(text)
		}
		check(key, found, err)
	}
	many, typed := make([]bool, len(keys)), make([]bool, len(keys))
	err := f.ContainsMany(keys, many)
	copy(typed, many)
	if err == nil && integers != nil {
		err = f.ContainsManyInt64(integers, typed)
	} else if err == nil && texts != nil {
		err = f.ContainsManyString(texts, typed)
	}
	for i, key := range keys {
		check(key, many[i], err)
		check(key, typed[i], err)
	}
}

func checkOtherType(t *testing.T, f *Filter) {
	t.Helper()
	for _, asked := range []KeyType{Integer, Text, Bytea, UUID, Numeric, Float, Date, Timestamp, Timestamptz, Inet,
		Macaddr, RowType(Text, Integer), RowType(Integer)} {
		key := Key{keyType: asked, long: "12345678"}
		found, err := f.Contains(key)
		switch asked {
		case Integer:
			found, err = f.ContainsInt64(int64(load64(key.long, 0)))
		case Text:
			found, err = f.ContainsString(key.long)
		}
		var partErr *PartError
		switch {
		case errors.As(err, &partErr) && f.total > 1:
		case f.keyType == None && (found || err != nil):
			t.Errorf("%s: %v, %v", asked, found, err)
		case f.keyType != None && f.keyType != asked:
			want := fmt.Sprintf("bloomfilter holds %s keys, not %s", f.keyType, asked)
			if err == nil || err.Error() != want {
				t.Errorf("error %v, not %q", err, want)
			}
		}
	}
}

func checkOtherParts(t *testing.T, f *Filter) {
	t.Helper()
	if f.keyType != Integer && f.keyType != None {
		return
	}
	for i := int64(0); i < 100; i++ {
		hash := hashWord(uint64(i), f.seed)
		_, err := f.ContainsInt64(i)
		if isOther := partOf(hash, f.total) != f.first; isOther != (err != nil) {
			t.Errorf("key %d of another part: %v, error %v", i, isOther, err)
		}
	}
}

func TestInvalidVectors(t *testing.T) {
	for _, r := range readRows(t, "invalid.tsv") {
		t.Run(r["name"], func(t *testing.T) {
			b, rule := r.bytes(t, "filter_hex"), r["rule"]
			err := checkRefused(t, b, rule)
			if rule == "version" && !strings.Contains(err.Error(), fmt.Sprintf("unsupported format version %d", b[4])) {
				t.Errorf("version is not named: %v", err)
			}
			_, err = FromBytes(b, NoVerify())
			switch {
			case rule == "checksum":
				if err != nil {
					t.Errorf("without the check: %v", err)
				}
			// What is beyond the blocks is refused without their check, too.
			case rule != "bits_set" || load64(b, 40) > uint64(8*len(b)):
				checkRule(t, err, rule)
			}
		})
	}
}

// checkRefused opens the bytes in all ways.
func checkRefused(t *testing.T, b []byte, rule string) error {
	t.Helper()
	path := tempFile(t, "filter.bloom", b)
	_, err := Open(path)
	checkRule(t, err, rule)
	_, err = Open(path, Copy())
	checkRule(t, err, rule)
	_, err = FromBytes(b)
	checkRule(t, err, rule)
	return err
}

func TestExactVectors(t *testing.T) {
	for _, r := range readRows(t, "exact.tsv") {
		t.Run(r["name"], func(t *testing.T) {
			b := r.bytes(t, "filter_hex")
			if r["word"] != "-" {
				checkRefused(t, b, r["word"])
				return
			}
			path := tempFile(t, "exact.bloom", b)
			for _, f := range []*Filter{mustParse(t, b), mustOpen(t, path), mustOpen(t, path, Copy())} {
				checkAnswers(t, f, r.keys(t, "members_hex"), true)
				checkAnswers(t, f, r.keys(t, "others_hex"), false)
				checkAnswers(t, f, r.keys(t, "strangers_hex"), false)
				if info := f.Info(); info.FormatVersion != 2 || info.Bytes != uint64(len(b)) {
					t.Errorf("%+v", info)
				}
			}
		})
	}
}

func checkRule(t *testing.T, err error, rule string) {
	t.Helper()
	var invalid *InvalidFilterError
	if !errors.As(err, &invalid) {
		t.Fatalf("error %v, not rule %s", err, rule)
	}
	if invalid.Rule != rule {
		t.Errorf("rule %s, not %s", invalid.Rule, rule)
	}
}
