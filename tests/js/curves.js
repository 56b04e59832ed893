// The numbers of the curves, under the names that circom and snarkjs use.
import { bls12_381 } from "@noble/curves/bls12-381";
import { bn254 } from "@noble/curves/bn254";

function curve(name, other, noble, fqBytes) {
    return {
        name,
        other,
        noble,
        fqBytes,
        frBytes: 32,
        q: noble.fields.Fp.ORDER,
        r: noble.fields.Fr.ORDER,
    };
}

export const curves = {
    bn128: curve("bn128", "bls12381", bn254, 32),
    bls12381: curve("bls12381", "bn128", bls12_381, 48),
};

export const curveNames = Object.keys(curves);

/** The least non-negative residue of v. */
export function mod(v, m) {
    const rest = v % m;
    return rest < 0n ? rest + m : rest;
}

/** A point of the curve (G1) or of the twist (G2) outside the subgroup of order r, affine; null for
 * BN254's G1, whose cofactor is 1. G2 coordinates are {c0, c1}. */
export function pointOffSubgroup(c, group) {
    if (group === "G1" && c.name === "bn128") {
        return null;
    }
    const Point = c.noble[group].Point;
    const { Fp, Fp2 } = c.noble.fields;
    const field = group === "G1" ? Fp : Fp2;
    const b = Point.CURVE().b;
    for (let i = 1n; ; i++) {
        const x = group === "G1" ? i : Fp2.create({ c0: i, c1: 1n });
        const right = field.add(field.mul(field.sqr(x), x), b);
        let y;
        try {
            y = field.sqrt(right);
        } catch {
            continue; // not a square: no such point
        }
        const point = Point.fromAffine({ x, y });
        if (
            !point
                .multiplyUnsafe(c.r - 1n)
                .add(point)
                .equals(Point.ZERO)
        ) {
            return { x, y };
        }
    }
}
