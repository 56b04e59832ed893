// Proving keys whose counts, indices, sections or points are wrong.
import assert from "node:assert/strict";
import fs from "node:fs";
import { after, test } from "node:test";

import * as bin from "../js/binfile.js";
import { curveNames, curves } from "../js/curves.js";
import { fixture } from "../js/fixtures.js";
import * as p from "../js/pinion.js";
import * as snark from "../js/snark.js";

after(snark.close);

const HEADER = 2;
const COEFFICIENTS = 4;
const B2 = 7;
const CONTRIBUTIONS = 10;
const COEFFICIENT_BYTES = 44;
const HUGE = [2 ** 28, 2 ** 31, 2 ** 32 - 1];

const inSection = (id) => new RegExp(`section ${id}\\b`);

for (const name of curveNames) {
    const curve = curves[name];
    const f = fixture(name, "nopriv");
    const key = fs.readFileSync(f.zkey);
    const ids = bin.parse(key).sections.map((s) => s.id);
    const pointSections = [3, 5, 6, 7, 8, 9];
    const pointBytes = (id) => (id === B2 ? 4 : 2) * curve.fqBytes;
    const counts = 4 + curve.fqBytes + 4 + curve.frBytes; // nVars, nPublic, domainSize
    const headerPoints = counts + 12;

    const refused = (bytes, pattern, ...options) =>
        p.assertNoProof(p.prove(p.file(".zkey", bytes), f.wtns, ...options), 3, pattern);

    test(`${name}: sections dropped and doubled`, () => {
        for (const id of ids) {
            refused(bin.doubled(key, id), inSection(id));
            if (id !== CONTRIBUTIONS) {
                refused(bin.without(key, id), inSection(id));
            }
        }
    });

    test(`${name}: sections in any order and of unknown kinds are fine`, async () => {
        const turned = bin.edited(key, (z) => {
            z.sections.reverse();
            z.sections.push({ id: 4000, data: Buffer.from("what a later version adds") });
        });
        const run = p.proved(p.file(".zkey", turned), f.wtns);
        assert.ok(await snark.verify(f.vkey, run.publics, run.proof));
    });

    test(`${name}: sections one element longer or shorter`, () => {
        for (const id of [...pointSections, COEFFICIENTS]) {
            const size = id === COEFFICIENTS ? COEFFICIENT_BYTES : pointBytes(id);
            const shorter = (data) => data.subarray(0, data.length - size);
            const longer = (data) => Buffer.concat([data, Buffer.alloc(size)]);
            for (const change of [shorter, longer]) {
                refused(bin.withSection(key, id, change), inSection(id));
            }
        }
    });

    test(`${name}: counts that lie are refused at once`, () => {
        for (const v of [0, 1, ...HUGE]) {
            for (const at of [counts, counts + 4, counts + 8]) {
                refused(bin.withWord(key, HEADER, at, v));
            }
        }
        const beyondRoots = name === "bn128" ? [2 ** 29] : []; // BLS12-381 has 2^32-th roots
        for (const v of [0, 3, ...beyondRoots]) {
            refused(bin.withWord(key, HEADER, counts + 8, v), /domain/);
        }
        for (const v of [0, ...HUGE]) {
            refused(bin.withWord(key, COEFFICIENTS, 0, v), inSection(COEFFICIENTS));
        }
    });

    test(`${name}: coefficients that point outside`, () => {
        const [matrix, constraint, signal] = [4, 8, 12];
        const places = [[matrix, 2], ...[matrix, constraint, signal].map((at) => [at, 2 ** 31])];
        for (const [at, v] of places) {
            refused(bin.withWord(key, COEFFICIENTS, at, v), inSection(COEFFICIENTS));
        }
    });

    test(`${name}: header points at infinity or off the curve`, () => {
        const [g1, g2] = [2 * curve.fqBytes, 4 * curve.fqBytes];
        let at = headerPoints;
        for (const size of [g1, g1, g2, g2, g1, g2]) {
            const place = at;
            const zero = (data) => data.fill(0, place, place + size);
            refused(bin.withSection(key, HEADER, zero), /infinity/);
            refused(bin.withSection(key, HEADER, flipped(place)), /curve/);
            at += size;
        }
    });

    test(`${name}: --check-key finds any damaged point`, () => {
        for (const id of pointSections) {
            const size = pointBytes(id);
            const length = bin.section(bin.parse(key), id).length;
            for (let at = 1; at < length; at += size) {
                const damaged = bin.withSection(key, id, flipped(at));
                refused(damaged, inSection(id), "--check-key");
            }
        }
        p.proved(f.zkey, f.wtns, "--check-key");
    });

    test(`${name}: a damaged point never gives a wrong proof`, async () => {
        for (const id of pointSections) {
            const run = p.prove(p.file(".zkey", bin.withSection(key, id, flipped(1))), f.wtns);
            if (run.status === 0) {
                // a point that this witness multiplies by zero
                assert.ok(await snark.verify(f.vkey, run.publics, run.proof), `section ${id}`);
            } else {
                p.assertNoProof(run, 3);
            }
        }
    });

    test(`${name}: cut anywhere`, () => {
        for (let length = 0; length < key.length; length += length < 300 ? 23 : 211) {
            refused(key.subarray(0, length));
        }
    });
}

/** A change of one bit of the byte there. */
function flipped(at) {
    return (data) => {
        data[at] ^= 4;
        return data;
    };
}
