// Prints vectors of one curve for tests/unit/test_vectors.c, computed by @noble/curves, pairings also
// by the library under snarkjs. One case a line: the operation, its operands, its results, all plain
// hexadecimal integers. Arguments: the curve's name, the seed.
import * as ffjavascript from "ffjavascript";

import { curves, mod } from "./curves.js";

const [name, seedText] = process.argv.slice(2);
const c = curves[name];
const { Fp, Fp2 } = c.noble.fields;
const G1 = c.noble.G1.Point;
const G2 = c.noble.G2.Point;

let state = BigInt(seedText);

/** 64 bits of splitmix64. */
function random64() {
    const mask = (1n << 64n) - 1n;
    state = (state + 0x9e3779b97f4a7c15n) & mask;
    let z = state;
    z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & mask;
    z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & mask;
    return z ^ (z >> 31n);
}

function random(modulus) {
    let v = 0n;
    for (let i = 0; i < 8; i++) {
        v = (v << 64n) | random64();
    }
    return v % modulus;
}

/** Runs of equal bits, values near 0 and near the modulus, and uniform ones. */
function biased(modulus) {
    const choice = random64() % 4n;
    const small = random64() % 5n;
    if (choice === 0n) {
        return small;
    }
    if (choice === 1n) {
        return mod(-small, modulus);
    }
    if (choice === 2n) {
        return mod((1n << (random64() % 384n)) - small, modulus);
    }
    return random(modulus);
}

function print(operation, ...numbers) {
    console.log([operation, ...numbers.map((n) => n.toString(16))].join(" "));
}

const flat = (v) => (typeof v === "bigint" ? [v] : Object.values(v).flatMap(flat));

function field(prefix, modulus, F) {
    for (let i = 0; i < 100; i++) {
        const a = biased(modulus);
        const b = biased(modulus);
        print(`${prefix}_add`, a, b, F.add(a, b));
        print(`${prefix}_sub`, a, b, F.sub(a, b));
        print(`${prefix}_mul`, a, b, F.mul(a, b));
        if (a !== 0n) {
            print(`${prefix}_inv`, a, F.inv(a));
        }
    }
}

function quadratic() {
    for (let i = 0; i < 100; i++) {
        const a = Fp2.create({ c0: biased(c.q), c1: biased(c.q) });
        const b = Fp2.create({ c0: biased(c.q), c1: biased(c.q) });
        print("fq2_mul", ...flat(a), ...flat(b), ...flat(Fp2.mul(a, b)));
        print("fq2_sqr", ...flat(a), ...flat(Fp2.sqr(a)));
        if (!Fp2.is0(a)) {
            print("fq2_inv", ...flat(a), ...flat(Fp2.inv(a)));
        }
    }
}

/** Affine coordinates, (0, 0) at infinity as in our files. */
function coordinates(point) {
    if (point.is0()) {
        return point instanceof G1 ? [0n, 0n] : [0n, 0n, 0n, 0n];
    }
    const { x, y } = point.toAffine();
    return [...flat(x), ...flat(y)];
}

function group(prefix, Point) {
    for (let i = 0; i < 12; i++) {
        const k = i === 0 ? 0n : biased(c.r);
        const p = Point.BASE.multiplyUnsafe(k);
        const q = i === 1 ? p : i === 2 ? p.negate() : Point.BASE.multiplyUnsafe(random(c.r));
        print(`${prefix}_mul`, k, ...coordinates(p));
        print(`${prefix}_add`, ...coordinates(p), ...coordinates(q), ...coordinates(p.add(q)));
    }
}

/** The twelve coordinates in the order of vk_alphabeta_12. Both libraries raise the value to the
 * same multiple of (q^12 - 1) / r. */
async function pairings() {
    const engine = await (name === "bn128"
        ? ffjavascript.buildBn128(true)
        : ffjavascript.buildBls12381(true));
    for (let i = 0; i < 3; i++) {
        const p = G1.BASE.multiply(1n + random(c.r - 1n));
        const q = G2.BASE.multiply(1n + random(c.r - 1n));
        const px = p.toAffine();
        const qx = q.toAffine();
        const value = engine.Gt.toObject(
            engine.pairing(
                engine.G1.fromObject([px.x, px.y, 1n]),
                engine.G2.fromObject([
                    [qx.x.c0, qx.x.c1],
                    [qx.y.c0, qx.y.c1],
                    [1n, 0n],
                ]),
            ),
        );
        print("pairing", ...coordinates(p), ...coordinates(q), ...flat(value));
        print("pairing", ...coordinates(p), ...coordinates(q), ...flat(c.noble.pairing(p, q)));
    }
    await engine.terminate();
}

field("fr", c.r, c.noble.fields.Fr);
field("fq", c.q, Fp);
quadratic();
group("g1", G1);
group("g2", G2);
await pairings();
