"""The readers, built in their folders."""

import os
import subprocess

from measure import Samples

GO = {"GO111MODULE": "on", "GOPROXY": "off", "GOFLAGS": "-mod=mod"}


def output(folder, *command, **variables):
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True,
                          check=False, env={**os.environ, **variables})
    if done.returncode != 0:
        raise SystemExit(f"{command}: {done.stderr[-2000:]}")
    return done.stdout


def build_python(run):
    """Its folder; the module is in build/lib there."""
    folder = os.path.join(run.tree, "clients", "python")
    output(folder, "/usr/bin/python3", "backend.py", "build/lib")
    return folder


def build_java(run):
    """Its folder, and the path of its classes."""
    folder = os.path.join(run.tree, "clients", "java")
    output(folder, "make", "-s", "build/test-classes.done")
    return folder, output(folder, "make", "-s", "test-path").strip()


def build_node(run):
    folder = os.path.join(run.tree, "clients", "node")
    output(folder, "./build-wasm")
    return folder


class Questions:
    """bench/readers/questions.*: a followed file beside a plain one, in turns in one process."""

    def __init__(self, run):
        programs = os.path.join(run.tree, "bench", "readers")
        go = os.path.join(run.tree, "clients", "go")
        python = build_python(run)
        java, classes = build_java(run)
        self.commands = {
            "C": (run.work, {}, [run.program("questions")]),
            "Python": (python, {"PYTHONPATH": "build/lib"}, ["/usr/bin/python3", f"{programs}/questions.py"]),
            "Java": (java, {}, ["java", "-cp", classes, f"{programs}/Questions.java"]),
            "Go": (go, GO, ["go", "run", f"{programs}/questions.go"]),
            "Node.js": (build_node(run), {}, ["node", f"{programs}/questions.mjs"]),
        }

    def ask(self, language, followed, plain, pairs):
        """Samples of both, in ns."""
        folder, variables, command = self.commands[language]
        lines = output(folder, *command, followed, plain, pairs, **variables).splitlines()
        return [Samples(values) for values in zip(*(map(float, line.split()) for line in lines))]
