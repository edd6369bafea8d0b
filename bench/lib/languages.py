"""The programs bench/readers/questions.*, each built with the reader of its language."""

import os
import subprocess

from measure import Samples


def output(folder, *command, **variables):
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True,
                          check=False, env={**os.environ, **variables})
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr[-2000:]}")
    return done.stdout


class Questions:
    def __init__(self, run):
        self.programs = os.path.join(run.tree, "bench", "readers")
        clients, library = os.path.join(run.tree, "clients"), os.path.join(run.tree, "src", "lib")
        c, go = os.path.join(run.work, "questions"), os.path.join(run.work, "go")
        output(library, "make", "-s")
        output(self.programs, "g++", "-std=c++17", "-O2", "-Wall", "-Wextra", "-I", library, "questions.cc", "-o", c,
               os.path.join(run.tree, "build", "lib", "libbloomfilter.a"), "-lbloom", "-lm", "-pthread")
        output(os.path.join(clients, "python"), "/usr/bin/python3", "backend.py", "build/lib")
        output(os.path.join(clients, "java"), "make", "-s", "build/classes.done")
        output(os.path.join(clients, "node"), "./build-wasm")
        # Debian's packages of Go are found by GOPATH alone.
        os.makedirs(os.path.join(go, "src", "example.org"), exist_ok=True)
        output(go, "ln", "-sfn", os.path.join(clients, "go"), "src/example.org/bloomfilter")
        classes = [os.path.join(clients, "java", "build", "classes"), *(
            f"/usr/share/java/{name}.jar" for name in ("guava", "failureaccess"))]
        self.commands = {
            "C": [c],
            "Python": ["/usr/bin/python3", "questions.py"],
            "Java": ["java", "-cp", ":".join(classes), "Questions.java"],
            "Go": ["go", "run", "questions.go"],
            "Node.js": ["node", "questions.mjs"],
        }
        self.variables = {
            "PYTHONPATH": os.path.join(clients, "python", "build", "lib"),
            "GO111MODULE": "off", "GOPATH": f"{go}:/usr/share/gocode",
            "NODE_PATH": os.path.join(run.work, "npm", "node_modules"),
        }

    def ask(self, language, keys, rounds, *contenders):
        """Samples in ns of each contender and operation; a contender is the path of a file that holds
        1 to keys, or what the language's program knows by this name, and fills with them."""
        samples = {}
        lines = output(self.programs, *self.commands[language], keys, rounds, *contenders, **self.variables)
        for line in lines.splitlines():
            contender, operation, ns = line.split("\t")
            samples.setdefault((contender, operation), Samples()).values.append(float(ns))
        return samples
