"""Daemons for the benchmarks: a coordinator on a directory of its own, and what is started beside it."""
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))


class Host:
    def __init__(self, args, folder):
        self.bin, self.dir, self.processes = os.path.join(args.build, "bin"), os.path.join(folder, "s"), []
        self.sink = os.path.join(args.build, "tests", "bench", "bench-sink")
        self.log = open(os.path.join(folder, "log"), "w", encoding="utf8")
        self.start("pinion-coord", "--arena", args.arena)

    def start(self, program, *options):
        path = program if os.path.sep in program else os.path.join(self.bin, program)
        self.processes.append(subprocess.Popen([path, "--dir", self.dir, *options],
                                               stdout=self.log, stderr=self.log))

    def pinion(self, *command):
        done = subprocess.run([os.path.join(self.bin, "pinion"), *command, "--dir", self.dir],
                              capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else None

    def must(self, *command):
        out = self.pinion(*command)
        if out is None:
            sys.exit("failed: pinion " + " ".join(command))
        return out

    def until(self, wanted):
        while True:
            out = self.pinion("status", "--json")
            if out and wanted(json.loads(out)):
                return
            time.sleep(0.01)

    def stop(self):
        for p in reversed(self.processes):
            p.terminate()
            p.wait()

    def accept(self, key, jobs, place):
        """So many jobs of the key's circuit, on disk and waiting: the queue is drained."""
        self.until(lambda s: True)
        self.must("circuit", "add", "chain", "--key", key)
        self.must("drain")
        batch = os.path.join(place, "batch")
        os.mkdir(batch)
        for i in range(jobs):
            os.symlink(key.replace(".zkey", ".wtns"), os.path.join(batch, f"{i}.wtns"))
        self.must("submit", "--circuit", "chain", "--witness", batch)

    def work_off(self, jobs):
        """Seconds from the first grant to the last result."""
        start = time.monotonic()
        self.must("drain", "--off")
        self.until(lambda s: s["jobs"]["done"] == jobs)
        return time.monotonic() - start


def chain(args, folder):
    """A key of 2^log2 constraints with full-width witness."""
    base = os.path.join(folder, "chain")
    subprocess.run([sys.executable, os.path.join(HERE, "chain.py"), "--log2", str(args.log2), "--curve",
                    args.curve, base], check=True)
    subprocess.run([os.path.join(args.build, "bin", "pinion"), "setup", "--insecure", "--quiet",
                    base + ".r1cs", base + ".zkey"], check=True)
    return base + ".zkey"
