// The circuits kept in tests/data/circom/CURVE/NAME, and the damaged files in tests/data/bad.
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { readJson } from "./binfile.js";
import { curveNames } from "./curves.js";

const here = path.dirname(fileURLToPath(import.meta.url));
const data = process.env.PINION_DATA ?? path.join(here, "..", "data");

/** The files of one circuit; those that do not exist are named all the same. */
export function fixture(curve, name) {
    const inside = (file) => path.join(data, "circom", curve, name, file);
    return {
        curve,
        name,
        zkey: inside("circuit.zkey"),
        r1cs: inside(`${name}.r1cs`),
        wtns: inside("witness.wtns"),
        proof: inside("proof.json"),
        publics: inside("public.json"),
        vkey: inside("verification_key.json"),
    };
}

export function fixtures() {
    return curveNames.flatMap((curve) =>
        fs
            .readdirSync(path.join(data, "circom", curve))
            .sort()
            .map((name) => fixture(curve, name)),
    );
}

/** The manifest of damaged files, paths made absolute. */
export function badFiles() {
    const folder = path.join(data, "bad");
    const inside = (name) => path.join(folder, name);
    return readJson(inside("manifest.json")).map(({ file, wrong, prove_with: pair }) => ({
        name: file,
        wrong,
        file: inside(file),
        zkey: pair && inside(pair.zkey),
        wtns: pair && inside(pair.wtns),
    }));
}
