"""What was measured on: processor, cores, memory, versions. No names, no paths."""

import datetime
import os
import re
import subprocess


def first_match(pattern, text, default="unknown"):
    found = re.search(pattern, text, re.MULTILINE)
    return found.group(1).strip() if found else default


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout
    except FileNotFoundError:
        return ""


def memory_bytes():
    return int(first_match(r"^MemTotal:\s+(\d+)", read("/proc/meminfo"))) * 1024


def cores():
    return len(os.sched_getaffinity(0))


def describe():
    model = first_match(r"^model name\s*:\s*(.*)$", read("/proc/cpuinfo"))
    cache = first_match(r"^L3 cache:\s*(.*)$", output_of("lscpu"))
    memory = memory_bytes() / 2**30
    virtual = ", virtual" if "hypervisor" in read("/proc/cpuinfo") else ""
    return f"{model}, {cores()} cores, L3 {cache}, {memory:.0f} GiB memory{virtual}"


def versions(tree):
    control = read(os.path.join(tree, "bloomfilter.control"))
    found = {
        "bloomfilter": first_match(r"^default_version = '(.*)'", control),
        "PostgreSQL": first_match(r"([\d.]+)", output_of("postgres", "--version")),
        "gcc": first_match(r"([\d.]+)", output_of("gcc", "-dumpfullversion")),
        "Linux": first_match(r"(\d+\.\d+)", output_of("uname", "-r")),
    }
    return ", ".join(f"{name} {version}" for name, version in found.items())


def today():
    return datetime.date.today().isoformat()


def load():
    return f"{os.getloadavg()[0]:.1f}"
