// The circom compiler from npm, run at test time. Results are kept in the build folder under a name
// that contains the hash of everything they depend on.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const modules = path.join(here, "node_modules");
const compiler = path.join(modules, "circom2", "cli.js");

function compileTo(folder, name, source, curve) {
    const file = path.join(folder, `${name}.circom`);
    fs.writeFileSync(file, source);
    // this compiler sees only the folders above its working directory
    execFileSync(
        process.execPath,
        [compiler, file, "--r1cs", "--wasm", "--O1", "-p", curve, "-l", modules, "-o", folder],
        { cwd: here, stdio: ["ignore", "ignore", "inherit"] },
    );
}

/** Compiles source for the curve below root; returns the paths {r1cs, wasm}. */
export function compile(root, name, source, curve) {
    const version = fs.readFileSync(path.join(modules, "circom2", "package.json"));
    const key = createHash("sha256")
        .update(version)
        .update(curve)
        .update(source)
        .digest("hex")
        .slice(0, 16);
    const folder = path.join(root, `${name}-${curve}-${key}`);
    if (!fs.existsSync(folder)) {
        fs.mkdirSync(root, { recursive: true });
        const draft = fs.mkdtempSync(path.join(root, "draft-"));
        compileTo(draft, name, source, curve);
        try {
            fs.renameSync(draft, folder);
        } catch (error) {
            if (!fs.existsSync(folder)) {
                throw error;
            }
            fs.rmSync(draft, { recursive: true }); // another process was faster
        }
    }
    return {
        r1cs: path.join(folder, `${name}.r1cs`),
        wasm: path.join(folder, `${name}_js`, `${name}.wasm`),
    };
}
