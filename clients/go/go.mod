module example.org/bloomfilter

go 1.19
