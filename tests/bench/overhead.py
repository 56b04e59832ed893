#!/usr/bin/env python3
"""What the pipeline costs: time of a job through all processes over the time of `pinion prove`.

    overhead.py --build build --log2 16

The same machine, threads and key; `pinion prove` runs once for each job, one after the other; the pipeline
has one synthesis process and gets all jobs before the clock starts. The two take turns. The ratio is
the median of the rounds. Numbers are printed, never judged.
"""
import argparse
import os
import statistics
import subprocess
import tempfile
import time

from host import Host, chain


def embedded(args, key, place):
    out = [os.path.join(place, "proof.json"), os.path.join(place, "public.json")]
    command = [os.path.join(args.build, "bin", "pinion"), "prove", "--quiet", "--backend", args.backend, key,
               key.replace(".zkey", ".wtns"), *out]
    start = time.monotonic()
    for _ in range(args.jobs):
        subprocess.run(command, check=True)
    return (time.monotonic() - start) / args.jobs


def pipeline(args, key, place):
    host = Host(args, place)
    host.accept(key, args.jobs, place)
    host.start("pinion-gpud", "--backend", args.backend)
    host.start("pinion-synth")
    host.until(lambda s: s["synths"] and s["gpud"])
    taken = host.work_off(args.jobs)
    host.stop()
    return taken / args.jobs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--log2", type=int, default=16)
    parser.add_argument("--curve", default="bn254")
    parser.add_argument("--arena", default="256M")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--jobs", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    args.build = os.path.abspath(args.build)
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        key = chain(args, folder)
        for _ in range(args.rounds):
            with tempfile.TemporaryDirectory(dir=folder) as place:
                one, many = embedded(args, key, place), pipeline(args, key, place)
            ratios.append(many / one)
            print(f"{args.curve} 2^{args.log2}: embedded {one:.3f} s, pipeline {many:.3f} s a proof,"
                  f" ratio {many / one:.3f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
