"""first.py: what each client's README shows, from a table to the first answer.

All blocks of each README in its language are put as they stand, one behind the other, into a
small program, which runs with the driver and the client that it names.  The database is called
"shop", as in the blocks; the drivers find its server in the environment, and JDBC, which
doesn't look there, in the file of its own defaults.
"""
import base64
import os
import re
import subprocess
import sys
import tempfile

import drivers

CUSTOMERS = """
    create extension bloomfilter;
    create table customers (id bigint primary key);
    insert into customers values (2), (42)"""
FILTER = "select bloom_agg(id, 100000, 0.01) from customers"

# What the programs say: of 42, and of 1, 2 and 3, where the block asks for them.
ANSWERS = {
    "python": "True [False, True, False]",
    "node": "true [0,1,0]",
    "java": "true [false, true, false]",
    "go": "true",
}
# The first blocks that write customers.bloom, which later ones open; that of Go writes nothing.
WRITERS = ["python", "node", "java"]


def filter_of_sql():
    return base64.b64decode(drivers.psql(FILTER, "shop"))


def write_program(language, name, folder):
    readme = drivers.read("clients", language, "README.md")
    mark = re.search(r"^```(\w+)$", readme, re.M).group(1)
    blocks = re.findall(r"^```%s\n(.*?)^```$" % mark, readme, re.M | re.S)
    assert len(blocks) >= 2, "%s shows a watched file, too" % language
    return drivers.write_program(name, {"BLOCK": "\n".join(blocks).rstrip()}, folder)


def client(language):
    return os.path.join(drivers.ROOT, "clients", language)


def python_command(folder):
    package = os.path.join(folder, "package")
    subprocess.run([sys.executable, "backend.py", package], cwd=client("python"), check=True)
    return ["env", "PYTHONPATH=" + package, sys.executable, write_program("python", "first.py", folder)]


def node_command(folder):
    subprocess.run([os.path.join(client("node"), "build-wasm")], check=True)
    command = drivers.node_command(write_program("node", "first.mjs", folder), folder)
    os.symlink(client("node"), os.path.join(folder, "node_modules", "bloomfilter-reader"))
    return command


def java_command(folder):
    subprocess.run(["make", "-s", "-C", client("java")], check=True)
    defaults = os.path.join(folder, "org", "postgresql", "driverconfig.properties")
    os.makedirs(os.path.dirname(defaults))
    with open(defaults, "w", encoding="utf-8") as file:
        file.write("PGHOST=127.0.0.1\nPGPORT=%s\nuser=%s\n" % (os.environ["PGPORT"], os.environ["PGUSER"]))
    return drivers.java_command(write_program("java", "First.java", folder), folder,
                                os.path.join(client("java"), "build", "bloomfilter.jar"))


def go_command(folder):
    with open(os.path.join(folder, "customers.bloom"), "wb") as file:
        file.write(filter_of_sql())
    # By the name in its go.mod.
    package = os.path.join(folder, "usr", "share", "gocode", "src", "example.org", "bloomfilter")
    os.makedirs(os.path.dirname(package))
    os.symlink(client("go"), package)
    return drivers.go_command(write_program("go", "first.go", folder), folder, ["golang-github-lib-pq-dev"])


COMMANDS = {"python": python_command, "node": node_command, "java": java_command, "go": go_command}


def answer(language, folder):
    """What the program says, or that it can't be built or fails."""
    try:
        return subprocess.run(COMMANDS[language](folder), cwd=folder, check=True, timeout=60,
                              stdout=subprocess.PIPE, text=True).stdout.strip()
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        return str(error)


def written(folder):
    path = os.path.join(folder, "customers.bloom")
    if not os.path.exists(path):
        return None
    with open(path, "rb") as file:
        return file.read()


def check_blocks(score):
    of_sql = filter_of_sql()
    for language, expected in ANSWERS.items():
        with tempfile.TemporaryDirectory() as folder:
            score.check("%s's blocks, their answers" % language, answer(language, folder), expected)
            if language in WRITERS:
                score.check("%s's first block writes the filter of the table" % language,
                            written(folder) == of_sql, True)


GO_PROGRAM = """package main

import (
	"fmt"

	"example.org/bloomfilter"
)

func main() {
	filter, err := bloomfilter.Open("customers.bloom")
	fmt.Println(filter.Info().N, err)
}
"""


def check_go_module(score):
    """A program's go.mod with the lines that Go's page has for it, beside a checkout."""
    lines = re.search(r"^```\n(require .*?)^```$", drivers.read("clients", "go", "README.md"), re.M | re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(drivers.ROOT, os.path.join(folder, "bloomfilter"))
        program = os.path.join(folder, "program")
        os.mkdir(program)
        for name, text in {"go.mod": "module program\n\ngo 1.19\n" + lines, "main.go": GO_PROGRAM}.items():
            with open(os.path.join(program, name), "w", encoding="utf-8") as file:
                file.write(text)
        with open(os.path.join(program, "customers.bloom"), "wb") as file:
            file.write(filter_of_sql())
        done = subprocess.run(["env", "GO111MODULE=on", "GOFLAGS=", "GOPROXY=off", "go", "run", "."], cwd=program, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        score.check("the lines of go.mod on Go's page", done.stdout, "100000 <nil>\n")


def check(score):
    drivers.psql("create database shop")
    try:
        drivers.psql(CUSTOMERS, "shop")
        check_blocks(score)
        check_go_module(score)
    finally:
        drivers.psql("drop database shop")
