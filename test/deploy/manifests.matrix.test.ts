import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { packageFolder } from "../../scripts/locked-packages.mjs";
import {
  documents,
  installed,
  load,
  MANIFESTS,
  PACKAGES,
  read,
  ROOT,
  type Manifest,
} from "./files.js";

// The schemas of the manifests on docs/deploy/containers.md, those of Kubernetes and the Gateway API,
// as npm packages have them; and a reader of its Dockerfile.

const run = promisify(execFile);

/**
 * Reports what Kubernetes would refuse. The packages' functions check required fields and values,
 * and TypeScript with the packages' types finds fields that don't exist.
 *
 * @returns one text for each file; empty if the file is valid
 */
async function problems(files: readonly string[]): Promise<string[]> {
  const all = files.map(read).map(documents);
  const functions = await Promise.all(
    all.map(async (file) => (await Promise.all(file.map(problemOf))).join("")),
  );
  const types = await typeErrors(all);
  return functions.map((found, index) => `${found}${types[index] ?? ""}`);
}

/** The package with the type and the function of an object, and the module in it. */
function moduleOf({ apiVersion, kind }: Manifest): readonly [name: string, module: string] {
  const name = apiVersion.startsWith("gateway.")
    ? "@kubernetes-models/gateway-api"
    : "kubernetes-models";
  return [name, `${apiVersion}/${kind}`];
}

async function problemOf(object: Manifest): Promise<string> {
  const [name, module] = moduleOf(object);
  const file = path.join(packageFolder(PACKAGES, name), `${module}.js`);
  const models = (await import(pathToFileURL(file).href)) as Record<
    string,
    new (object: Manifest) => { validate(): void }
  >;
  const Model = models[object.kind];
  if (Model === undefined) throw new Error(`The packages don't know the kind ${object.kind}.`);
  try {
    new Model(object).validate();
    return "";
  } catch (error) {
    return String(error);
  }
}

async function typeErrors(all: readonly (readonly Manifest[])[]): Promise<string[]> {
  // Below the packages' folder, where TypeScript finds them.
  mkdirSync(path.join(PACKAGES, "build"), { recursive: true });
  const folder = mkdtempSync(path.join(PACKAGES, "build/manifests-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
  const files = all.map((objects, index) => {
    const constants = objects.map(
      (object, part) =>
        `export const part${part}: import("${moduleOf(object).join("/")}").I${object.kind} = ${JSON.stringify(object)};\n`,
    );
    writeFileSync(path.join(folder, `file-${index}.ts`), constants.join(""));
    return `file-${index}.ts`;
  });
  const compilerOptions = { module: "nodenext", target: "es2023", strict: true, types: [] };
  writeFileSync(
    path.join(folder, "tsconfig.json"),
    JSON.stringify({
      compilerOptions: { ...compilerOptions, noEmit: true, skipLibCheck: true },
      files,
    }),
  );
  const compiler = path.join(ROOT, "node_modules/typescript/bin/tsc");
  // The names in its output are relative to this folder.
  const { stdout } = await run(process.execPath, [compiler, "--pretty", "false"], {
    cwd: folder,
  }).catch((error: unknown) => error as { stdout: string });
  const lines = stdout.split("\n").filter((line) => line !== "");
  return files.map((file) => lines.filter((line) => line.startsWith(`${file}(`)).join("\n"));
}

describe.skipIf(!installed)("Kubernetes' schemas", () => {
  it("accept every manifest", async () => {
    expect(MANIFESTS.length).toBe(5);
    expect(await problems(MANIFESTS)).toEqual(MANIFESTS.map(() => ""));
  });

  it("aren't needed to find a key that is there twice: the reader of YAML refuses it", () => {
    const twice = read("kubernetes/service.yaml").replace("kind:", "kind: Service\nkind:");
    expect(() => documents(twice)).toThrow("unique");
  });
});

describe.skipIf(!installed)("a reader of Dockerfiles", () => {
  const { validate } = load("dockerfile-utils") as {
    validate(text: string): readonly { readonly message: string }[];
  };

  it("accepts the Dockerfile", () => {
    expect(validate(read("Dockerfile"))).toEqual([]);
  });
});
