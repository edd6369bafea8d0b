package bloomfilter

import (
	"io"
	"regexp"
	"strconv"
	"strings"
)

const (
	manifestWord = "bloomfilter-set "
	manifestLine = manifestWord + "1"
	manifestName = "manifest"

	maxParts = 65535

	// maxManifest is room for all parts' names of the longest kind.
	maxManifest = (maxParts + 1) * 256
)

// nameWithChecksum is a name that promises what is in its file, which a part of
// another build is not.
var nameWithChecksum = regexp.MustCompile(`\.([0-9a-f]{16})\.bloom$`)

// openSet opens all files of a manifest as one filter.
func (s *source) openSet(c config) (*Filter, error) {
	parts := make([]*loaded, len(s.names))
	for i, name := range s.names {
		path := s.file(name)
		l, err := loadFile(path, c)
		if err != nil {
			return nil, err
		}
		if !hasPromised(name, l.part.header.checksum) {
			return nil, inFile(path, setError("is another filter than its name says"))
		}
		parts[i] = l
	}
	f, err := assemble(parts)
	return f, inFile(s.path, err)
}

// readManifest returns the names of the parts' files, and what its notes tell.
func readManifest(path string) (names []string, notes map[string]string, err error) {
	file, _, err := openRegular(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err != nil {
		return nil, nil, err
	}
	if len(text) > maxManifest {
		return nil, nil, setError("manifest is too long")
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if lines[0] != manifestLine {
		return nil, nil, setError("manifest does not begin with %q", manifestLine)
	}
	for _, name := range lines[1:] {
		if strings.HasPrefix(name, "#") {
			continue
		}
		if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
			return nil, nil, setError("manifest names %.80q, which is no file name", name)
		}
		names = append(names, name)
	}
	if len(names) < 1 || len(names) > maxParts {
		return nil, nil, setError("manifest names %d files, not 1 to %d", len(names), maxParts)
	}
	return names, valuesOf(lines[1:], "# "), nil
}

// hasPromised says whether a file's name has this checksum, or none.
func hasPromised(name string, checksum uint64) bool {
	promised := nameWithChecksum.FindStringSubmatch(name)
	if promised == nil {
		return true
	}
	sum, err := strconv.ParseUint(promised[1], 16, 64)
	return err == nil && sum == checksum
}

// assemble makes one Filter of parts in their order, if they are all of a set.
func assemble(parts []*loaded) (*Filter, error) {
	if len(parts) == 0 {
		return nil, setError("no part is there")
	}
	set := &Filter{
		total: uint64(parts[0].part.header.parts),
		seed:  parts[0].part.header.seed,
	}
	if set.total != uint64(len(parts)) {
		return nil, setError("%d files, but the set has %d parts", len(parts), set.total)
	}
	for _, l := range parts {
		if err := set.add(l.part); err != nil {
			return nil, err
		}
		set.hold(l)
	}
	return set, nil
}

// add appends the next part. Parts without keys have no key type.
func (f *Filter) add(p *part) error {
	h := p.header
	number := len(f.parts)
	switch {
	case uint64(h.parts) != f.total:
		return setError("file %d is of a set of %d parts, not %d", number, h.parts, f.total)
	case int(h.part) != number:
		return setError("part %d is where part %d should be", h.part, number)
	case h.seed != f.seed:
		return setError("part %d has another seed than part 0", number)
	case h.keyType != None && f.keyType != None && h.keyType != f.keyType:
		return setError("part %d holds %s keys, not %s", number, h.keyType, f.keyType)
	}
	if h.keyType != None {
		f.keyType = h.keyType
	}
	f.parts = append(f.parts, p)
	return nil
}
