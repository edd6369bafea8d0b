"""The chain from an index or a list to the hosts: exporter, web server, followers, on loopback."""

import base64
import mmap
import os
import shutil
import signal
import socket
import struct
import subprocess
import time

# Of a followed file (FEED, section 1), in microseconds.
TRUE_AT = 536

# Of a patch (section 3): from, and behind it to.
PATCH_FROM = 32

NGINX = """daemon off;
pid {here}/nginx.pid;
worker_processes 1;
worker_rlimit_nofile 8192;
events {{ worker_connections 4096; }}
http {{
  log_format bytes '$bytes_sent';
  access_log {here}/access.log bytes buffer=64k flush=1s;
  client_body_temp_path {here}/b; proxy_temp_path {here}/p; fastcgi_temp_path {here}/f;
  uwsgi_temp_path {here}/u; scgi_temp_path {here}/s;
  keepalive_requests 100000;
  server {{ listen 127.0.0.1:{port}; root {here}/www; }}
}}
"""


def wait_for(what, condition, seconds=300):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def cpu_seconds(pid):
    """User and system time of a process and of the children that it has waited for."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
        return [int(child) for child in file.read().split()]


def private_bytes(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) * 1024 for line in file if line.startswith(("Private_Clean:", "Private_Dirty:")))


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Followed:
    """What a host has, read where its programs would."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.map = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ)

    def true_at(self):
        """The time up to which all that was committed is in it."""
        return struct.unpack_from("<Q", self.map, TRUE_AT)[0] / 1e6

    def age(self):
        """Seconds since then."""
        return time.time() - self.true_at()


class Chain:
    """An exporter of one source, nginx, and as many hosts as are begun. source: two arguments of the command line."""

    def __init__(self, run, source, every):
        self.program = os.path.join(run.tree, "build", "cli", "bloomfilter")
        self.here = os.path.join(run.work, "hosts")
        self.source = source
        self.running = []
        self.hosts = {}
        os.makedirs(self.here + "/www")
        self.log = open(self.here + "/log", "w", encoding="utf-8")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/keys"
        with open(self.here + "/nginx.conf", "w", encoding="ascii") as file:
            file.write(NGINX.format(here=self.here, port=port))
        self.nginx = self.begin("nginx", "-p", self.here, "-e", self.here + "/nginx.log", "-c", self.here + "/nginx.conf")
        self.exporter = self.begin(self.program, "export", "--dsn", "", *source, "--to", self.here + "/www/keys",
                                   "--follow", "--every", every, "--poll", "1")
        wait_for("the first manifest", lambda: os.path.exists(self.here + "/www/keys/manifest"))

    def begin(self, *command):
        process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        self.running.append(process)
        return process

    def begin_host(self, name, by_login=False):
        """A follower that looks each second, by the web server or by a login; its file's path."""
        path = f"{self.here}/{name}.bloom"
        where = ["--dsn", "", *self.source] if by_login else ["--url", self.url, "--allow-http"]
        self.hosts[path] = self.begin(self.program, "pull", *where, "--out", path, "--follow", "--every", "1")
        return path

    def wait_for_hosts(self):
        wait_for("all hosts' first files", lambda: all(os.path.exists(path) for path in self.hosts))

    def manifest(self):
        """Its lines by their first words."""
        lines = {}
        with open(self.here + "/www/keys/manifest", encoding="ascii") as file:
            for line in file:
                word, _, rest = line.rstrip("\n").partition(" ")
                lines.setdefault(word, []).append(rest)
        return lines

    def last_patch(self):
        """From, to and length of the patch that the newest manifest came with, None where there was none."""
        lines = self.manifest()
        if "inline" not in lines:
            return None
        patch = base64.b64decode(lines["inline"][0])
        return (*struct.unpack_from("<QQ", patch, PATCH_FROM), len(patch))

    def bytes_sent(self):
        """By the web server since it began."""
        time.sleep(1.5)
        with open(self.here + "/access.log", encoding="ascii") as file:
            return sum(map(int, file))

    def web_cpu(self):
        return sum(map(cpu_seconds, [self.nginx.pid, *children_of(self.nginx.pid)]))

    def end(self):
        for process in reversed(self.running):
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            process.wait()
        self.log.close()
        shutil.rmtree(self.here)
