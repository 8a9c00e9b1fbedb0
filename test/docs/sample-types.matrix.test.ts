import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installFramework } from "../../scripts/framework-install.mjs";
import { packageFolder } from "../../scripts/locked-packages.mjs";
import { packConformance, packPackage } from "../../scripts/pack-package.mjs";
import { codeBlocks, pages } from "../../scripts/snippets.mjs";
import { NEXT_APPLICATION } from "../adapters/applications/next-installed.js";
import { buildPackage } from "../support/build.js";

// Every file of docs/snippets, and every sample of JavaScript and TypeScript that a page has
// besides them, passes a strict type check with the packed package. A sample that cannot stand
// alone says why, in a comment before it that no reader sees: <!-- fragment: … -->.

const ROOT = path.resolve(import.meta.dirname, "../..");
const run = promisify(execFile);

/** Pages whose samples run in a test of their own, which fails when a sample is not run. */
const EXECUTED: Readonly<Record<string, string>> = {
  "docs/how-to/testing.md": "test/docs/testing.test.ts",
  "docs/reference/testing.md": "test/docs/testing.test.ts",
  "docs/how-to/fetch-frameworks.md": "test/recipes/page.matrix.test.ts",
  "docs/how-to/react-vue-svelte.md": "test/compositions/compositions.browser.matrix.test.ts",
  "docs/start/single-page-application.md": "test/docs/single-page-applications.unit.test.ts",
};

const EXPRESS = `export { idpAuth } from "idpauth/express";
import type { ExpressIdpAuth } from "idpauth/express";
import type { Express, Request, RequestHandler } from "express";
export declare const auth: ExpressIdpAuth;
export declare const app: Express;
export declare const request: Request;
export declare const handler: RequestHandler;
export declare const clientId: string;
export declare const clientSecret: string;
`;

/** A page whose samples a bundler compiles, so that their imports need no file extension. */
const BUNDLED = "docs/start/nextjs.md";

/** A page whose reader copies the files of another page's samples. */
const COPIED = { from: "docs/how-to/nestjs.md", to: "docs/start/nestjs.md" };

/**
 * What the text around a page's samples supplies. A sample gets the names that it uses and does not
 * declare.
 */
const GIVEN: Readonly<Record<string, string>> = {
  "docs/how-to/proxy.md": `export declare const auth: import("idpauth/next").NextIdpAuth;
`,
  "docs/how-to/user-table.md": `${EXPRESS}
export declare const pool: import("pg").Pool;
`,
  "docs/how-to/nextjs.md": `import type { NextIdpAuth } from "idpauth/next";
export declare const auth: NextIdpAuth;
`,
  "docs/how-to/guarding.md": `export declare const auth: import("idpauth/next").NextIdpAuth;
`,
  "docs/how-to/mounting.md": `import type { NextIdpAuth } from "idpauth/next";
export declare const auth: NextIdpAuth;
`,
  "docs/how-to/adapters.md": `import type { AdapterFactory } from "idpauth-conformance";
export declare const startMyApplication: AdapterFactory;
`,
  "docs/how-to/single-page-applications.md": `export declare const auth: import("idpauth/client").Client;
`,
  "docs/how-to/signing-out.md": EXPRESS,
  "docs/reference/client.md": `export declare const auth: import("idpauth/client").Client;
`,
  "docs/how-to/nestjs.md": `export { Injectable } from "@nestjs/common";
export { Module } from "@nestjs/common";
export { IdpAuthModule } from "./idp-auth/idp-auth.module.js";
export declare const ReportsController: new () => object;
export type { RequestHandler } from "express";
export { IdpRequiredGuard } from "./idp-auth/idp-required.guard.js";
`,
  "docs/start/fetch.md": `type Respond = (request: Request) => Promise<Response>;
export declare const Bun: {
  serve(options: { port: number; routes: Record<string, Response | Respond>; fetch: Respond }): { port: number; stop(closeActiveConnections?: boolean): Promise<void> };
};
export declare const Deno: {
  createHttpClient(options: { poolMaxIdlePerHost: number }): object;
  env: { get(name: string): string | undefined };
  serve(options: { port: number }, handler: Respond): { shutdown(): Promise<void> };
  addSignalListener(signal: "SIGTERM", handler: () => void): void;
  exit(): never;
};
export declare const fetch: (url: string | URL | Request, init: RequestInit & { client?: object }) => Promise<Response>;
`,
  "docs/how-to/stores.md": `import type { StoreFactory } from "idpauth-conformance";
export declare const create: StoreFactory;
`,
};

/**
 * The part of zod's types that a sample uses: a schema of zod 4 has a Standard Schema in its
 * property `~standard`.
 */
const ZOD = `interface Schema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: Output } | { readonly issues: readonly { readonly message: string }[] };
  };
  default(value: Output): Schema<Output>;
}
export declare const z: {
  string(): Schema<string>;
  array<Item>(item: Schema<Item>): Schema<Item[]>;
  object<Members extends object>(members: { [Name in keyof Members]: Schema<Members[Name]> }): Schema<Members>;
};
`;

/** The part of h3's types that a sample uses. */
const H3 = `interface Event {
  readonly req: Request;
}
export declare class H3 {
  use(middleware: (event: Event) => Promise<Response> | undefined): this;
  get(path: string, handler: (event: Event) => unknown): this;
}
export declare function html(text: string): unknown;
export declare function serve(app: H3, options: { port: number }): { close(closeActiveConnections?: boolean): Promise<void> };
`;

interface Sample {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** The file that the text before the sample names. */
  readonly file: string | undefined;
  readonly fragment: string | undefined;
  /** The file that the sample comes from. */
  readonly snippet?: string | undefined;
}

const samples = pages().flatMap(samplesOf);
const checked = samples.filter(
  ({ page, fragment, snippet }) =>
    fragment === undefined &&
    !/^(?:docs\/snippets|(?:test\/)?examples\/(?:next|migrate-from)[^/]*)\//.test(snippet ?? "") &&
    !Object.hasOwn(EXECUTED, page),
);

function samplesOf(page: string): Sample[] {
  const blocks = codeBlocks(page, readFileSync(path.join(ROOT, page), "utf8"));
  return blocks.map(({ line, language, code, before, snippet }) => ({
    page,
    line,
    language,
    code,
    snippet,
    file: /`([\w./[\]-]+\.[cm]?[jt]sx?)`[^`]*:$/.exec(before)?.[1],
    fragment: /^ *<!-- fragment: (.{10,}) -->$/.exec(before)?.[1],
  }));
}

/** The libraries of docs/snippets/http-clients, which the project itself doesn't have. */
const LIBRARIES = path.join(ROOT, "test/recipes/browser-libraries");
const hasLibraries = await installFramework(LIBRARIES);

let folder = "";

beforeAll(async () => {
  await buildPackage();
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-samples-"));
  const packages = path.join(folder, "node_modules");
  mkdirSync(packages);
  const installed = readdirSync(path.join(ROOT, "node_modules"));
  // The packed packages replace the links of the workspaces.
  for (const name of installed.filter((each) => !/^idpauth(?:-conformance)?$/.test(each)))
    symlinkSync(path.join(ROOT, "node_modules", name), path.join(packages, name));
  for (const [name, types] of [
    ["zod", ZOD],
    ["h3", H3],
  ] as const) {
    mkdirSync(path.join(packages, name));
    writeFileSync(path.join(packages, name, "index.d.ts"), types);
    writeFileSync(
      path.join(packages, name, "package.json"),
      JSON.stringify({ name, type: "module", types: "index.d.ts" }),
    );
  }
  symlinkSync(path.join(NEXT_APPLICATION, "node_modules/next"), path.join(packages, "next"));
  mkdirSync(path.join(packages, "@tanstack"), { recursive: true });
  for (const name of hasLibraries ? ["axios", "@tanstack/react-query", "swr"] : [])
    symlinkSync(packageFolder(LIBRARIES, name), path.join(packages, name));
  await unpack(packPackage, path.join(packages, "idpauth"));
  await unpack(packConformance, path.join(packages, "idpauth-conformance"));
  cpSync(path.join(ROOT, "docs/snippets"), path.join(folder, "docs/snippets"), { recursive: true });
  writeFileSync(path.join(folder, "package.json"), JSON.stringify({ type: "module" }));
});

/** Packs a package as `npm publish` does, and unpacks it. */
async function unpack(pack: typeof packPackage, to: string): Promise<void> {
  mkdirSync(to);
  await run("tar", ["-xzf", pack(folder).tarball, "-C", to, "--strip-components=1"]);
}

afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe("the samples of the documentation", () => {
  it("are found", () => {
    expect(new Set(checked.map(({ page }) => page)).size).toBeGreaterThan(5);
    expect(checked.length).toBeGreaterThan(20);
  });

  it("pass a strict type check, each as the module that an application has", async () => {
    const bundled = checked.filter(({ page }) => page === BUNDLED);
    expect(bundled.length).toBeGreaterThan(5);
    const copied = checked.filter(
      ({ page, file }) => page === COPIED.from && file?.startsWith("idp-auth/") === true,
    );
    expect(copied.length).toBe(4);
    const snippets = readdirSync(path.join(folder, "docs/snippets"), {
      recursive: true,
      encoding: "utf8",
    });
    const files = snippets
      .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
      .filter((file) => hasLibraries || !file.startsWith("http-clients"))
      .map((file) => `docs/snippets/${file}`);
    expect(files.length).toBeGreaterThan(20);
    const others = checked.filter((sample) => !bundled.includes(sample));
    const written = [
      ...others,
      ...copied.map((sample) => ({ ...sample, page: COPIED.to })),
    ].flatMap(write);
    expect(await compile([...files, ...written])).toBe("");
    expect(
      await compile(bundled.flatMap(write), {
        module: "esnext",
        moduleResolution: "bundler",
        jsx: "react-jsx",
      }),
    ).toBe("");
  }, 120_000);

  it("the check finds a sample that signs out everywhere by an unchecked session", async () => {
    const code =
      "const { iss, sub } = (await auth.getSession(request)).claims;\nawait auth.endAllSessions({ iss, sub });\n";
    const files = write({
      page: "docs/wrong.md",
      line: 1,
      language: "js",
      code,
      file: undefined,
      fragment: undefined,
    });
    expect(await compile(files)).toContain("error TS");
  }, 120_000);

  it("neither a sample nor an example nor the demo reads the ungated record, by which an application could authorize wrongly", () => {
    const files = ["examples", "demo"].flatMap((name) =>
      readdirSync(path.join(ROOT, name), { recursive: true, encoding: "utf8" }).map(
        (file) => `${name}/${file}`,
      ),
    );
    const sources = files.filter(
      (file) => /\.[cm]?[jt]sx?$/.test(file) && !file.includes("node_modules"),
    );
    expect(sources.length).toBeGreaterThan(20);
    const texts = [
      ...samples.map(({ page, code }) => [page, code]),
      ...sources.map((file) => [file, readFileSync(path.join(ROOT, file), "utf8")]),
    ];
    expect(
      texts.filter(([, text = ""]) => text.includes("readSessionRecord")).map(([name]) => name),
    ).toEqual([]);
  });

  it.each(Object.entries(EXECUTED))("those of %s run in %s", (page, test) => {
    expect(samples.some((sample) => sample.page === page)).toBe(true);
    expect(readFileSync(path.join(ROOT, test), "utf8")).toContain(path.basename(page));
  });
});

/**
 * Writes a sample into its page's folder, and gives the files. Several files in one sample each
 * begin with a comment `// path`.
 */
function write({ page, line, language, code, file }: Sample): string[] {
  const at = path.join(folder, page.replaceAll(/\W/g, "-"));
  mkdirSync(at, { recursive: true });
  const given = GIVEN[page] ?? EXPRESS;
  writeFileSync(path.join(at, "given.d.ts"), given);
  const names = [...given.matchAll(/^export (?:type )?(?:declare const (\w+)|\{ (\w+) \})/gm)].map(
    ([, one, other]) => one ?? other ?? "",
  );
  const parts = code.split(/^(?=\/\/ \S+\.[jt]sx?\b)/m).filter((part) => part.trim() !== "");
  return parts.map((part, index) => {
    const needed = names.filter(
      (name) => new RegExp(`\\b${name}\\b`).test(part) && !declares(part, name),
    );
    const name =
      file ?? `line-${String(line)}-${String(index)}.${language === "js" ? "mjs" : language}`;
    const depth = "../".repeat(name.split("/").length - 1);
    const prelude =
      needed.length === 0 ? "" : `import { ${needed.join(", ")} } from "./${depth}given.js"; `;
    const target = path.join(at, name);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(
      target,
      `${prelude}${part}${part.includes("export ") || prelude !== "" || part.includes("import ") ? "" : "export {};\n"}`,
    );
    return path.relative(folder, target);
  });
}

function declares(code: string, name: string): boolean {
  return new RegExp(
    `\\b(?:const|let|function|class) ${name}\\b|^import\\b[^;]*\\b${name}\\b[^;]*from `,
    "m",
  ).test(code);
}

async function compile(
  files: readonly string[],
  changed: Readonly<Record<string, string>> = {},
): Promise<string> {
  const compilerOptions = {
    module: "nodenext",
    target: "es2023",
    lib: ["es2023", "dom", "dom.iterable"],
    types: ["node"],
    jsx: "preserve",
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitOverride: true,
    experimentalDecorators: true,
    allowJs: true,
    checkJs: true,
    skipLibCheck: true,
    noEmit: true,
    ...changed,
  };
  writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const compiler = path.join(ROOT, "node_modules/typescript/bin/tsc");
  return run(process.execPath, [compiler, "-p", folder]).then(
    ({ stdout }) => stdout,
    (error: unknown) => (error as { stdout: string }).stdout,
  );
}
