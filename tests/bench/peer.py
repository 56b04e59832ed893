#!/usr/bin/env python3
"""Times `pinion prove` beside other provers: same keys, same threads, taking turns in one run.

    peer.py --pinion build/bin/pinion --rapidsnark /path/to/prover --threads 2

Keys are made by `pinion setup --insecure`; circuits by chain.py (full-width witness) and sha256.mjs
(witness of 0 and 1; needs `npm ci` in tests/js). Every prover's first proof is checked by `pinion
verify`. The ratio is the median of the pairwise ratios of wall time, so that what disturbs the
machine disturbs both. Numbers are printed, never judged.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time
import typing

HERE = os.path.dirname(os.path.abspath(__file__))
SNARKJS = os.path.join(HERE, "..", "js", "node_modules", "snarkjs", "build", "cli.cjs")
DEFAULT = "chain14,chain16,sha256_440,chain18"
VALUE_BYTES = 32


class Taken(typing.NamedTuple):
    wall: float  # seconds
    cpu: float  # seconds of all threads
    peak: int  # resident bytes


def measured(command):
    """Runs it: what it took."""
    start = time.monotonic()
    quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_WRONLY, 0) for fd in (1, 2)]
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=quiet)
    _, status, usage = os.wait4(pid, 0)
    wall = time.monotonic() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit("failed: " + " ".join(command))
    return Taken(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


class Circuit:
    def __init__(self, name, args):
        self.name, self.base = name, os.path.join(args.folder, name)
        self.r1cs, self.wtns, self.zkey, self.vkey = (
            self.base + suffix for suffix in (".r1cs", ".wtns", ".zkey", ".vkey.json"))
        if not os.path.exists(self.zkey):
            self.write(args)
            subprocess.run([args.pinion, "setup", "--insecure", self.r1cs, self.zkey], check=True,
                           stderr=subprocess.DEVNULL)
        subprocess.run([args.pinion, "vkey", self.zkey, self.vkey], check=True)
        seen = subprocess.run([args.pinion, "inspect", "--json", self.zkey], check=True,
                              capture_output=True)
        self.shape = json.loads(seen.stdout)

    def write(self, args):
        if self.name.startswith("chain"):
            chain = os.path.join(HERE, "chain.py")
            make = [sys.executable, chain, "--log2", self.name[5:], self.base]
        elif self.name.startswith("sha256_"):
            make = ["node", os.path.join(HERE, "sha256.mjs"), self.name[7:], args.folder, self.base]
        else:
            sys.exit("unknown circuit %s: chainK (2^K constraints) or sha256_BITS" % self.name)
        subprocess.run(make, check=True)


class Prover:
    def __init__(self, name, command, args):
        self.name, self.command, self.pinion = name, command, args.pinion

    def prove(self, circuit):
        out = circuit.base + "." + self.name
        proof, publics = out + ".proof.json", out + ".public.json"
        took = measured(self.command + [circuit.zkey, circuit.wtns, proof, publics])
        return took, [circuit.vkey, publics, proof]

    def check(self, circuit):
        """One proof that is verified and not timed."""
        _, files = self.prove(circuit)
        subprocess.run([self.pinion, "verify"] + files, check=True, stdout=subprocess.DEVNULL)


def provers(args):
    found = [Prover("pinion", [args.pinion, "prove", "--threads", str(args.threads)], args)]
    if args.rapidsnark:
        found.append(Prover("rapidsnark", [args.rapidsnark], args))
    if args.snarkjs:
        found.append(Prover("snarkjs", ["node", SNARKJS, "groth16", "prove"], args))
    return found


def compare(circuit, competitors, runs):
    """Per prover its runs, the provers taking turns."""
    taken = {p.name: [] for p in competitors}
    for p in competitors:
        p.check(circuit)
    for _ in range(runs):
        for p in competitors:
            taken[p.name].append(p.prove(circuit)[0])
    return taken


def median_of(runs, what):
    return statistics.median(getattr(run, what) for run in runs)


def ratio(theirs, ours, what):
    """The median of the ratios of neighbouring runs."""
    return statistics.median(getattr(t, what) / getattr(o, what) for t, o in zip(theirs, ours))


def print_rows(circuit, taken):
    for name, runs in taken.items():
        walls = [run.wall for run in runs]
        print("| %s | %d | %s | %.3f | %.3f-%.3f | %.2f | %.2f | %.0f |" % (
            circuit.name, circuit.shape["constraints"], name, median_of(runs, "wall"), min(walls),
            max(walls), ratio(runs, taken["pinion"], "wall"), ratio(runs, taken["pinion"], "cpu"),
            max(run.peak for run in runs) / 2**20), flush=True)


def print_memory(circuit, runs):
    """What `prove` needs beyond the mapped key, in vectors of the domain's size."""
    peak = max(run.peak for run in runs)
    key = os.path.getsize(circuit.zkey)
    vector = circuit.shape["domain"] * VALUE_BYTES
    print("%s: pinion's peak %.1f MiB, key %.1f MiB, the rest %.2f vectors of %.1f MiB" % (
        circuit.name, peak / 2**20, key / 2**20, (peak - key) / vector, vector / 2**20))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pinion", required=True, help="the program")
    parser.add_argument("--rapidsnark", help="its `prover` program")
    parser.add_argument("--snarkjs", action="store_true", help="time snarkjs from tests/js too")
    parser.add_argument("--threads", type=int, default=2, help="threads and processors for each")
    parser.add_argument("--runs", type=int, default=5, help="timed proofs of each prover")
    parser.add_argument("--circuits", default=DEFAULT, help="default: " + DEFAULT)
    parser.add_argument("--folder", default="build/bench", help="keeps circuits and keys")
    args = parser.parse_args()
    args.folder = os.path.abspath(args.folder)
    os.makedirs(args.folder, exist_ok=True)
    # whoever counts processors counts these; the program itself is told as well
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:args.threads])

    competitors = provers(args)
    circuits = [Circuit(name, args) for name in args.circuits.split(",")]
    print("| circuit | constraints | prover | median s | range | wall / pinion's |"
          " CPU time / pinion's | peak MiB |")
    print("|---|---|---|---|---|---|---|---|")
    medians = {}
    results = [(c, compare_and_print(c, competitors, args.runs)) for c in circuits]
    print()
    for circuit, taken in results:
        print_memory(circuit, taken["pinion"])
        medians[circuit.name] = median_of(taken["pinion"], "wall")
    if {"chain14", "chain18"} <= medians.keys():
        print("pinion's time at 2^18 over its time at 2^14: %.2f (n log n: 20.57)"
              % (medians["chain18"] / medians["chain14"]))


def compare_and_print(circuit, competitors, runs):
    taken = compare(circuit, competitors, runs)
    print_rows(circuit, taken)
    return taken


if __name__ == "__main__":
    main()
