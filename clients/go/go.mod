module bloomfilter

go 1.19

require github.com/OneOfOne/xxhash v1.2.4
