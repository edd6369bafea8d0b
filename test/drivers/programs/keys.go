// Asks by lib/pq and by pgx, each in two ways to send, as drivers of database/sql; "keys.py" says what.
package main

import (
	"bufio"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/jackc/pgconn"
	"github.com/jackc/pgx/v4"
	"github.com/jackc/pgx/v4/stdlib"
	"github.com/lib/pq"
)

// What isn't bytes is read as a string, as a program would.
func read(db *sql.DB, kind, query string) (keys []any) {
	rows, err := db.Query(query)
	if err != nil {
		panic(err)
	}
	defer rows.Close()
	for rows.Next() {
		var key any
		if err := rows.Scan(&key); err != nil {
			panic(err)
		}
		if text, ok := key.([]byte); ok && kind != "bytea" {
			key = string(text)
		}
		keys = append(keys, key)
	}
	return keys
}

func answer(db *sql.DB, query string, key any) string {
	var found bool
	var byPq *pq.Error
	var byPgx *pgconn.PgError
	err := db.QueryRow(query, key).Scan(&found)
	switch {
	case errors.As(err, &byPq):
		return string(byPq.Code)
	case errors.As(err, &byPgx):
		return byPgx.Code
	case err != nil:
		return "client"
	}
	return fmt.Sprint(found)
}

func open(driver, options string) *sql.DB {
	db, err := sql.Open(driver, options)
	if err != nil {
		panic(err)
	}
	return db
}

func main() {
	config, err := pgx.ParseConfig("")
	if err != nil {
		panic(err)
	}
	config.PreferSimpleProtocol = true
	dbs := map[string]*sql.DB{
		"lib/pq": open("postgres", ""), "lib/pq binary": open("postgres", "binary_parameters=yes"),
		"pgx": open("pgx", ""), "pgx simple": stdlib.OpenDB(*config)}
	keys := map[string][]any{}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		question := strings.Split(lines.Text(), "\t")
		for mode, db := range dbs {
			if question[1] == "read" {
				keys[mode] = read(db, question[0], question[2])
				continue
			}
			answers := []string{mode, question[0], question[1]}
			for _, key := range keys[mode] {
				answers = append(answers, answer(db, question[2], key))
			}
			fmt.Println(strings.Join(answers, "\t"))
		}
	}
}
