#!/usr/bin/env python3
"""How synthesis scales with its processes: jobs a second of one and of many, in one run.

    synthesis.py --build build --synths 1,8 --log2 18

Coordinator and `pinion-synth` are the real ones, each process with one thread; in place of the daemon
stands bench-sink, which reports every slice done without proving it. All jobs are accepted before the
clock starts. Rounds take turns, and the ratio is that of the best ones. Numbers are printed, never judged.
"""
import argparse
import os
import tempfile

from host import Host, chain


def rate(args, key, folder, synths):
    """Jobs a second of so many processes."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        host = Host(args, place)
        jobs = args.jobs * synths
        host.accept(key, jobs, place)
        host.start(host.sink)
        for _ in range(synths):
            host.start("pinion-synth", "--threads", "1")
        host.until(lambda s: len(s["synths"]) == synths and s["gpud"])
        taken = host.work_off(jobs)
        host.stop()
        return jobs / taken


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--synths", default="1,8", help="numbers of processes, the first is the unit")
    parser.add_argument("--log2", type=int, default=18)
    parser.add_argument("--curve", default="bn254")
    parser.add_argument("--arena", default="1G")
    parser.add_argument("--jobs", type=int, default=24, help="of each process")
    parser.add_argument("--rounds", type=int, default=2)
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    counts = [int(n) for n in args.synths.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        key = chain(args, folder)
        best = {n: 0 for n in counts}
        for _ in range(args.rounds):
            for n in counts:
                best[n] = max(best[n], rate(args, key, folder, n))
    for n in counts:
        print(f"{args.curve} 2^{args.log2}: {n:3} processes {best[n]:8.2f} jobs/s,"
              f" {best[n] / best[counts[0]]:.2f} times one of {counts[0]}")


if __name__ == "__main__":
    main()
