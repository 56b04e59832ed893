// Circuits of every odd shape, each with a witness that satisfies it, in the terms of r1cs().
// Wires: 0 is one, then outputs, public inputs, private inputs, the rest.
import { mod } from "./curves.js";

const ONE = 0;

/** x_{i+1} = x_i^2 + i, n constraints: x_0 private, the last x public, every value full-width. */
export function chain(curve, n) {
    const wire = (i) => (i === n ? 1 : 2 + i);
    const witness = new Array(n + 2);
    witness[ONE] = 1n;
    const constraints = [];
    let x = curve.r / 3n;
    for (let i = 0; i <= n; i++) {
        witness[wire(i)] = x;
        x = mod(x * x + BigInt(i), curve.r);
        if (i < n) {
            constraints.push([
                [[wire(i), 1n]],
                [[wire(i), 1n]],
                [
                    [ONE, -BigInt(i)],
                    [wire(i + 1), 1n],
                ],
            ]);
        }
    }
    return { wires: n + 2, outputs: 1, privates: 1, constraints, witness };
}

/** A deterministic stream of numbers (splitmix64); next(n) is below n. */
export function random(seed) {
    let state = BigInt(seed);
    const mask = (1n << 64n) - 1n;
    const word = () => {
        state = (state + 0x9e3779b97f4a7c15n) & mask;
        let z = state;
        z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
        z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
        return z ^ (z >> 31n);
    };
    return { word, next: (n) => Number(word() % BigInt(n)) };
}

/** An integer below the order: 0, 1, order - 1, small, anything, or long runs of 0 and 1 bits. */
export function element(order, rng) {
    const pick = rng.next(8);
    if (pick < 4) {
        return [0n, 1n, order - 1n, rng.word() % 100n][pick];
    }
    let v = 0n;
    for (let bits = 0; bits < 448;) {
        const run = pick < 6 ? 64 : 1 + rng.next(64);
        const word = pick < 6 ? rng.word() : rng.word() % 2n && (1n << BigInt(run)) - 1n;
        v = (v << BigInt(run)) | word;
        bits += run;
    }
    return v % order;
}

/** A random satisfied circuit: each constraint defines a new wire from the earlier ones. */
export function randomCircuit(curve, seed) {
    const rng = random(seed);
    const publics = rng.next(4);
    const privates = 1 + rng.next(4);
    const witness = [1n];
    while (witness.length <= publics + privates) {
        witness.push(element(curve.r, rng));
    }
    const combination = () =>
        Array.from({ length: rng.next(4) }, () => [
            rng.next(witness.length),
            element(curve.r, rng),
        ]);
    const at = (terms) =>
        terms.reduce((sum, [wire, v]) => mod(sum + v * witness[wire], curve.r), 0n);
    const constraints = [];
    for (let n = rng.next(40); n > 0; n--) {
        const [a, b, c] = [combination(), combination(), combination()];
        witness.push(mod(at(a) * at(b) - at(c), curve.r));
        constraints.push([a, b, [...c, [witness.length - 1, 1n]]]);
    }
    return { wires: witness.length, publics, privates, constraints, witness };
}

/** By name. */
export function shapes(curve) {
    const w = (...values) => [1n, ...values.map((v) => mod(BigInt(v), curve.r))];
    const product = [[[1, 1]], [[2, 1]], [[3, 1]]]; // w1 w2 = w3
    return {
        "nothing at all": { wires: 1, constraints: [], witness: w() },
        "no constraint, one public": { wires: 2, publics: 1, constraints: [], witness: w(5) },
        "no constraint, all public": {
            wires: 4,
            publics: 3,
            constraints: [],
            witness: w(0, -1, 7),
        },
        "no constraint, one private": { wires: 2, privates: 1, constraints: [], witness: w(5) },
        "no constraint, both kinds": {
            wires: 6,
            publics: 2,
            privates: 3,
            constraints: [],
            witness: w(1, 2, 3, 4, 5),
        },
        "one constraint, nothing public": {
            wires: 4,
            privates: 3,
            constraints: [product],
            witness: w(3, 4, 12),
        },
        "one constraint, all public": {
            wires: 4,
            publics: 3,
            constraints: [product],
            witness: w(3, 4, 12),
        },
        "one constraint on constants": {
            wires: 1,
            constraints: [[[[ONE, 6]], [[ONE, 7]], [[ONE, 42]]]],
            witness: w(),
        },
        "empty constraint": { wires: 2, publics: 1, constraints: [[[], [], []]], witness: w(9) },
        "linear, as circom writes it": {
            wires: 4,
            outputs: 1,
            privates: 2,
            constraints: [
                [
                    [],
                    [],
                    [
                        [1, -1],
                        [2, 1],
                        [3, 2],
                    ],
                ],
            ],
            witness: w(23, 7, 8),
        },
        "linear, times one": {
            wires: 4,
            outputs: 1,
            privates: 2,
            constraints: [
                [
                    [
                        [2, 1],
                        [3, 2],
                    ],
                    [[ONE, 1]],
                    [[1, 1]],
                ],
            ],
            witness: w(23, 7, 8),
        },
        "zero and repeated terms": {
            wires: 4,
            outputs: 1,
            privates: 2,
            witness: w(7 * 5, 1, 5),
            constraints: [
                [
                    [
                        [2, 3],
                        [2, 4],
                        [3, 0],
                    ],
                    [
                        [3, 1],
                        [2, 9],
                        [2, -9],
                    ],
                    [
                        [1, 2],
                        [1, -1],
                    ],
                ],
            ],
        },
        "a witness of zeros": {
            wires: 4,
            privates: 3,
            constraints: [product, product],
            witness: w(0, 0, 0),
        },
        "wires that no constraint mentions": {
            wires: 9,
            publics: 2,
            privates: 6,
            constraints: [[[[3, 1]], [[4, 1]], [[8, 1]]]],
            witness: w(1, -1, 2, 3, 4, 5, -1, 6),
        },
        "many public, one constraint": {
            wires: 40,
            publics: 39,
            constraints: [product],
            witness: w(3, 4, 12, ...Array(36).fill(-3)),
        },
        "wide sums": {
            wires: 202,
            outputs: 1,
            privates: 200,
            witness: w(200 * 200, ...Array(200).fill(1)),
            constraints: [[sum(2, 200), sum(2, 200), [[1, 1]]]],
        },
        "domain of 16 filled": chain(curve, 14),
        "domain of 16 exceeded": chain(curve, 15),
        "domain of 128 nearly filled": chain(curve, 125),
    };
}

function sum(first, count) {
    return Array.from({ length: count }, (_, i) => [first + i, 1n]);
}
