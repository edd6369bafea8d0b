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
	if r["columns"] == "-" {
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
	// The bits are looked at through a filter that has just one of them missing
	// at a time, so that the code under test is what users run.
	log2Block := uint8(r.number(t, "log2_block_bits"))
	p := newPart(&header{
		probes:    uint8(r.number(t, "k")),
		log2Block: log2Block,
		blocks:    uint32(r.number(t, "blocks")),
	}, nil)
	checkBlock(t, p, hash, r.number(t, "block"))
	checkBits(t, p, hash, strings.Split(r["bits"], ","))
}

// checkBlock gives the part just the bytes up to the wanted block's end: block
// then fails unless it picks this block, and the block must be the last.
func checkBlock(t *testing.T, p *part, hash, want uint64) {
	t.Helper()
	size := uint64(1) << p.blockShift
	p.blocks = zeroBytes((want + 1) * size)
	block := p.block(hash)
	block[0] = 1
	defer func() { block[0] = 0 }()
	if p.blocks[want*size] != 1 {
		t.Errorf("block is not %d", want)
	}
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

func checkBits(t *testing.T, p *part, hash uint64, bits []string) {
	t.Helper()
	block := p.block(hash)
	positions := map[int]bool{}
	for _, text := range bits {
		position, _ := strconv.Atoi(text)
		positions[position] = true
		block[position>>3] |= 1 << (position & 7)
	}
	if !p.contains(hash) {
		t.Errorf("the key is denied though its bits are set")
	}
	for position := range positions {
		block[position>>3] &^= 1 << (position & 7)
		if p.contains(hash) {
			t.Errorf("bit %d is not looked at", position)
		}
		block[position>>3] |= 1 << (position & 7)
	}
	for position := range positions {
		block[position>>3] = 0
	}
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
	checkExplained(t, f, r.keys(t, "keys"), r["key_explained"])
	checkExplained(t, f, r.keys(t, "absent"), r["absent_explained"])
	checkOtherType(t, f)
	checkOtherParts(t, f)
}

func checkExplained(t *testing.T, f *Filter, keys []Key, want string) {
	t.Helper()
	if want == "-" {
		return
	}
	text, err := f.Explain(keys[0])
	if want = strings.ReplaceAll(want, "|", "\n"); err != nil || text != want {
		t.Errorf("%s, not %s; error %v", text, want, err)
	}
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

func checkAnswers(t *testing.T, f *Filter, keys []Key, want bool) {
	t.Helper()
	found := make([]bool, len(keys))
	if err := f.ContainsMany(keys, found); err != nil {
		t.Fatal(err)
	}
	for i, key := range keys {
		one, err := f.Contains(key)
		if err != nil || one != want || found[i] != want {
			t.Errorf("%x: %v, in a batch %v, %v", key.AppendTo(nil), one, found[i], err)
		}
	}
}

// allTypes are those of a single value.
func allTypes() (types []KeyType) {
	for t := Integer; t <= lastKeyType; t++ {
		types = append(types, t)
	}
	return types
}

func checkOtherType(t *testing.T, f *Filter) {
	t.Helper()
	for _, asked := range append(allTypes(), RowType(Text, Integer), RowType(Integer)) {
		key := Key{keyType: asked, long: "12345678"}
		found, err := f.Contains(key)
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
			b := r.bytes(t, "filter_hex")
			_, err := FromBytes(b)
			checkRule(t, err, r["rule"])
			path := tempFile(t, "filter.bloom", b)
			_, err = Open(path)
			checkRule(t, err, r["rule"])
			_, err = Open(path, Copy())
			checkRule(t, err, r["rule"])
			if r["rule"] == "version" && !strings.Contains(err.Error(),
				fmt.Sprintf("unsupported format version %d", b[4])) {
				t.Errorf("version is not named: %v", err)
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
