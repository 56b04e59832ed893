#!/usr/bin/env python3
"""Writes a circuit whose witness is full-width field elements, with a satisfying witness.

    chain.py --log2 16 --curve bn254 OUT        # OUT.r1cs and OUT.wtns

x_0 is private, x_{i+1} = x_i^2 + i, the last x is public. 2^k - 2 constraints and one public value
fill the domain of 2^k exactly.
"""
import argparse
import struct

ORDER = {
    "bn254": 21888242871839275222246405745257275088548364400416034343698204186575808495617,
    "bls12-381": 52435875175126190479447740508185965837690552500527637822603658699938581184513,
}
WIRE_ONE, WIRE_LAST, WIRE_FIRST = 0, 1, 2


def container(magic, version, sections):
    out = [magic, struct.pack("<II", version, len(sections))]
    for ident, data in sections:
        out += [struct.pack("<IQ", ident, len(data)), data]
    return b"".join(out)


def value(v):
    return v.to_bytes(32, "little")


def wire_of(i, n):
    """The wire of x_i for n constraints: circom numbers outputs, then inputs, then the rest."""
    return WIRE_LAST if i == n else WIRE_FIRST + i


def r1cs(r, n):
    one = value(1)
    rows = []
    for i in range(n):
        square = struct.pack("<II", 1, wire_of(i, n)) + one
        rows += [square, square]
        nxt = struct.pack("<I", wire_of(i + 1, n)) + one
        if i == 0:
            rows.append(struct.pack("<I", 1) + nxt)
        else:
            rows.append(struct.pack("<II", 2, WIRE_ONE) + value(r - i) + nxt)
    wires = n + 2
    header = struct.pack("<I", 32) + value(r) + struct.pack("<IIIIQI", wires, 1, 0, 1, wires, n)
    labels = struct.pack("<%dQ" % wires, *range(wires))
    return container(b"r1cs", 1, [(2, b"".join(rows)), (1, header), (3, labels)])


def wtns(r, n, x0):
    values = [b""] * (n + 2)
    values[WIRE_ONE] = value(1)
    x = x0
    for i in range(n + 1):
        values[wire_of(i, n)] = value(x)
        x = (x * x + i) % r
    header = struct.pack("<I", 32) + value(r) + struct.pack("<I", n + 2)
    return container(b"wtns", 2, [(1, header), (2, b"".join(values))])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log2", type=int, default=14, help="domain size, 2 to 27")
    parser.add_argument("--curve", choices=sorted(ORDER), default="bn254")
    parser.add_argument("out", help="path without suffix")
    args = parser.parse_args()
    if not 2 <= args.log2 <= 27:
        parser.error("--log2 must be 2 to 27")
    r, n = ORDER[args.curve], 2 ** args.log2 - 2
    with open(args.out + ".r1cs", "wb") as f:
        f.write(r1cs(r, n))
    with open(args.out + ".wtns", "wb") as f:
        f.write(wtns(r, n, r // 3))


if __name__ == "__main__":
    main()
