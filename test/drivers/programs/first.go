// Runs what clients/go/README.md shows; "first.py" puts it in.
package main

import (
	"database/sql"
	"fmt"

	"example.org/bloomfilter"
	_ "github.com/lib/pq"
)

func first(db *sql.DB) error {
	// BLOCK
	fmt.Println(known)
	return err
}

func main() {
	db, err := sql.Open("postgres", "dbname=shop")
	if err == nil {
		err = first(db)
	}
	if err != nil {
		panic(err)
	}
}
