#!/usr/bin/env python3
"""From COMMIT to true in a reader of another process: how long.

    freshness.py KEYS SECONDS FOLDER

PGHOST and the like name a scratch server with the extension; FOLDER is made, and holds all
else.  build/cli/bloomfilter and build/lib/libbloomfilter.so must be there.  An exporter looks
each 250 ms, a host each second, through nginx on loopback; 1,000 keys a second are inserted,
20 commits a second, and a reader looks for the last key of each commit every 2 ms.
"""

import ctypes
import multiprocessing
import os
import random
import socket
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.path.join(ROOT, "build/cli/bloomfilter")
LIBRARY = os.path.join(ROOT, "build/lib/libbloomfilter.so")
COMMITS_A_SECOND = 20
KEYS_A_COMMIT = 50


def sql(text):
    return subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-c", text], check=True,
                          capture_output=True, text=True).stdout.strip()


def cpu(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def reader(path, commits, result, seconds):
    library = ctypes.CDLL(LIBRARY)
    library.bloomfilter_contains_int64.argtypes = [ctypes.c_void_p, ctypes.c_int64]
    handle = ctypes.c_void_p()
    if library.bloomfilter_open(path.encode(), 0, ctypes.byref(handle), None) < 0:
        raise SystemExit("cannot open " + path)
    waiting = []
    latencies = []
    end = time.monotonic() + seconds + 10
    while time.monotonic() < end:
        while commits.poll():
            waiting.append(commits.recv())
        now = time.monotonic()
        still = []
        for key, since in waiting:
            if library.bloomfilter_contains_int64(handle, key) == 1:
                latencies.append(now - since)
            else:
                still.append((key, since))
        waiting = still
        time.sleep(0.002)
    result.send((latencies, len(waiting)))


def write_keys(seconds, commits):
    session = subprocess.Popen(["psql", "-qAtX"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    begin = time.monotonic()
    for i in range(int(seconds * COMMITS_A_SECOND)):
        due = begin + i / COMMITS_A_SECOND
        time.sleep(max(0.0, due - time.monotonic()))
        first = random.getrandbits(60)
        session.stdin.write("INSERT INTO keys SELECT generate_series(%d, %d);\n\\echo done\n"
                            % (first, first + KEYS_A_COMMIT - 1))
        session.stdin.flush()
        session.stdout.readline()
        commits.send((first + KEYS_A_COMMIT - 1, time.monotonic()))
    session.stdin.close()
    session.wait()


def main():
    keys, seconds, folder = int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
    os.makedirs(folder + "/www")
    sql("DROP TABLE IF EXISTS keys; CREATE TABLE keys (id bigint);"
        " INSERT INTO keys SELECT generate_series(1, %d)" % (keys // 2))
    sql("CREATE INDEX keys_id ON keys USING bloomfilter (id) WITH (n = %d); CHECKPOINT" % keys)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with open(folder + "/nginx.conf", "w") as file:
        file.write("%s\ndaemon off; pid %s/nginx.pid; events { worker_connections 256; }\nhttp { access_log %s/access.log;"
                   " server { listen 127.0.0.1:%d; root %s/www; } }\n"
                   % ("user root;" if os.geteuid() == 0 else "", folder, folder, port, folder))
    log = open(folder + "/log", "w")
    running = [subprocess.Popen([PROGRAM, "export", "--dsn", "", "--index", "keys_id", "--to", folder + "/www/keys",
                                 "--follow", "--every", "0.25", "--poll", "1"], stdout=log, stderr=log),
               subprocess.Popen(["nginx", "-e", folder + "/nginx.log", "-c", folder + "/nginx.conf"])]
    while not os.path.exists(folder + "/www/keys/manifest"):
        time.sleep(0.1)
    running.append(subprocess.Popen([PROGRAM, "pull", "--url", "http://127.0.0.1:%d/keys" % port, "--allow-http",
                                     "--out", folder + "/keys.bloom", "--follow", "--every", "1"], stdout=log, stderr=log))
    while not os.path.exists(folder + "/keys.bloom.status"):
        time.sleep(0.1)
    commits, to_commits = multiprocessing.Pipe(False)
    result, to_result = multiprocessing.Pipe(False)
    process = multiprocessing.Process(target=reader, args=(folder + "/keys.bloom", commits, to_result, seconds))
    process.start()
    backend = int(sql("SELECT pid FROM pg_stat_activity WHERE query LIKE '%bloom_index_changes%' AND pid <> pg_backend_pid()"))
    before = [cpu(backend), cpu(running[0].pid), cpu(running[2].pid)]
    begun = time.monotonic()
    write_keys(seconds, to_commits)
    took = time.monotonic() - begun
    after = [cpu(backend), cpu(running[0].pid), cpu(running[2].pid)]
    latencies, lost = result.recv()
    process.join()
    for child in reversed(running):
        child.terminate()
        child.wait()
    latencies.sort()
    steps = [os.path.getsize(os.path.join(folder, "www/keys", name))
             for name in os.listdir(folder + "/www/keys") if name.endswith(".step")]
    print("keys %d, %d commits of %d keys in %.0f s, %d never found" % (keys, len(latencies) + lost, KEYS_A_COMMIT, took, lost))
    for name, share in (("median", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)):
        print("%-7s %.2f s" % (name, latencies[min(len(latencies) - 1, int(len(latencies) * share))]))
    small = sorted(steps)[:len(steps) // 2]
    print("backend %.1f %%, exporter %.1f %%, host %.1f %% of a core; %d step files, median of the smaller half %d bytes"
          % tuple([100 * (b - a) / took for a, b in zip(before, after)] + [len(steps), small[len(small) // 2]]))


if __name__ == "__main__":
    main()
