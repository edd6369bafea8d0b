module bloomfilter

go 1.19
