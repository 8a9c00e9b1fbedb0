import { execFile, execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { packageEntries } from "../../scripts/entries.mjs";
import { installFramework } from "../../scripts/framework-install.mjs";
import { packageProgram } from "../../scripts/locked-packages.mjs";
import { packPackage } from "../../scripts/pack-package.mjs";
import { buildPackage } from "../support/build.js";

// CommonJS, and the versions of TypeScript that docs/about/support.md names, with the packed
// package.

const ROOT = path.resolve(import.meta.dirname, "../..");
const TOOLS = path.join(ROOT, "scripts/checks");
const NEXT = path.join(ROOT, "test/adapters/next-application");
const run = promisify(execFile);
const installed = (await installFramework(TOOLS)) && (await installFramework(NEXT));

/** What the entries and the application below import. */
const PACKAGES = [
  "jose",
  "oauth4webapi",
  "undici",
  "express",
  "fastify",
  "hono",
  "koa",
  "next",
  "react",
  "@opentelemetry",
  "@types",
  "csstype",
  "undici-types",
];

const compilers = {
  oldest: packageProgram(TOOLS, "typescript-oldest"),
  own: path.join(ROOT, "node_modules/typescript/bin/tsc"),
  newest: packageProgram(TOOLS, "typescript-newest"),
};

const entries = packageEntries()
  .filter(({ isProgram }) => !isProgram)
  .map(({ name }) => name);

/** The expected errors are missing if a type is `any`. */
const APPLICATION = `
import express from "express";
import { type IdpAuthOptions, hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";
import { idpAuth as fetchAuth } from "idpauth/fetch";
import { redisStore } from "idpauth/redis";
import { startTestProvider } from "idpauth/testing";

const options: IdpAuthOptions = { clientId: "app" };
const app = express();
const auth = idpAuth({ ...options, onSignIn: () => ({ data: { plan: "free" } }) });
auth.mount(app);
app.get("/", auth.idpRequiredWith({ allow: ({ data }) => data?.plan === "free" }), async (req, res) => {
  const { user, data } = await auth.requireSession(req);
  res.json({ name: user.name, plan: data?.plan });
  // @ts-expect-error the name is a string
  const name: number = user.name;
  // @ts-expect-error the data has no such property
  void [name, data?.paln];
});
void [hasClaim, fetchAuth, redisStore, startTestProvider];
`;

const ADAPTERS = ["express", "fastify", "fetch", "hono", "koa", "next", "node"];

/** Middleware of Express names types of packages below `express`, which are not linked here. */
const MIDDLEWARE = `
export const { idpRequired, csrf, getSession, requireSession, getAccessToken, loginUrl } = auth;
export const ofStaff = auth.idpRequiredWith({ provider: "staff" });
export const orders = auth.proxyApi("orders");
`;

/** A module whose exports have the types that TypeScript infers. */
const exportsOf = (adapter: string) => `
import { idpAuth } from "idpauth/${adapter}";
import { redisStore, type RedisClient } from "idpauth/redis";

declare const client: RedisClient;
declare const claims: {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => { readonly value: { groups: string[] } };
  };
};
const issuer = "https://login.example.com/";

export const auth = idpAuth({
  store: redisStore(client),
  claims,
  onSignIn: ({ claims }) => ({ data: { plan: claims.groups.join() } }),
  providers: { staff: { issuer }, customers: { issuer } },
  apis: { orders: { url: "https://orders.internal/", path: "/api/orders/" } },
});
${adapter === "express" ? "" : MIDDLEWARE}
export const start = () => auth.start();
export const devices = () => auth.listSessions({ iss: issuer, sub: "1" });
export const log = () => auth.on("login", (event) => event);
type Raw = Parameters<typeof auth.${adapter === "next" ? "seenSession" : "getCredentials"}>[0];
export const read = async (raw: Raw) => ({
  session: await auth.getSession(raw),
  credentials: await auth.getCredentials(raw),
  probe: await auth.clientState(raw),
  explanation: await auth.explainIdpAuthentication(raw),
});
${adapter === "next" ? "export const { GET, POST } = auth.handlers;\nexport const { proxy } = auth;" : ""}
`;

/** Of another project. The expected errors are missing if a type is `any`. */
const importsOf = (adapter: string) => `
import { auth, read } from "../declared/${adapter}.mjs";
const raw = {} as Parameters<typeof read>[0];
const { session, credentials } = await read(raw);
// @ts-expect-error the data has no such property
void session?.data.paln;
// @ts-expect-error the claims are a list
void session?.claims.groups.toFixed();
// @ts-expect-error the token is a string
void credentials?.token.toFixed();
// @ts-expect-error there is no such provider
auth.idpRequiredWith({ provider: "stuff" });
// @ts-expect-error there is no such API
auth.proxyApi("ordrs");
`;

describe.skipIf(!installed)("an application with the packed package", () => {
  let folder: string;

  beforeAll(async () => {
    await buildPackage();
    folder = mkdtempSync(path.join(tmpdir(), "idpauth-consumer-"));
    const own = path.join(folder, "node_modules/idpauth");
    mkdirSync(own, { recursive: true });
    const { tarball } = packPackage(folder);
    execFileSync("tar", ["-xzf", tarball, "-C", own, "--strip-components=1"]);
    for (const name of PACKAGES) {
      const found = [ROOT, NEXT]
        .map((place) => path.join(place, "node_modules", name))
        .find((place) => existsSync(place));
      if (found !== undefined)
        symlinkSync(found, path.join(folder, "node_modules", name), "junction");
    }
    for (const file of ["application.mts", "application.cts"])
      writeFileSync(path.join(folder, file), APPLICATION);
  }, 300_000);

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(entries)("gets the same functions with require(%j) as with import", async (name) => {
    const code = `import { createRequire } from "node:module";
      const required = createRequire(process.cwd() + "/x.cjs")("${name}");
      const imported = await import("${name}");
      // The import of the warning defines an element, and exports types alone.
      const isExpected = Object.keys(required).length > 0 || "${name}" === "idpauth/client/warning";
      if (!isExpected) throw new Error("nothing is exported");
      for (const key of Object.keys(imported)) if (required[key] !== imported[key]) throw new Error(key);`;
    await run(process.execPath, ["--input-type=module", "-e", code], { cwd: folder });
  });

  const check = async (compiler: string, files: readonly string[], options: object = {}) => {
    const compilerOptions = {
      target: "es2022",
      module: "nodenext",
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      types: ["node"],
      ...options,
    };
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
    return run(process.execPath, [compiler, "-p", "."], { cwd: folder }).then(
      ({ stdout }) => stdout,
      (error: unknown) => (error as { stdout: string }).stdout,
    );
  };

  describe.each(Object.entries(compilers))("with the %s TypeScript", (_, compiler) => {
    it.each([
      ["nodenext", {}],
      ["bundler", { module: "esnext", moduleResolution: "bundler" }],
    ])("its types compile with module resolution %s", async (_name, options) => {
      expect(await check(compiler, ["application.mts"], options)).toBe("");
    });
  });

  it.each([
    ["node16", { module: "node16" }],
    ["bundler", { module: "esnext", moduleResolution: "bundler" }],
  ])(
    "that exports its `auth` gets declarations, which another project reads, with module resolution %s",
    async (_name, options) => {
      for (const name of ["exporting", "importing"])
        mkdirSync(path.join(folder, name), { recursive: true });
      for (const adapter of ADAPTERS) {
        writeFileSync(path.join(folder, `exporting/${adapter}.mts`), exportsOf(adapter));
        writeFileSync(path.join(folder, `importing/${adapter}.mts`), importsOf(adapter));
      }
      const files = ADAPTERS.map((adapter) => `${adapter}.mts`);
      const declared = await check(
        compilers.own,
        files.map((file) => `exporting/${file}`),
        {
          ...options,
          noEmit: false,
          emitDeclarationOnly: true,
          declaration: true,
          rootDir: "exporting",
          outDir: "declared",
        },
      );
      expect(declared).toBe("");
      for (const adapter of ADAPTERS) {
        const text = readFileSync(path.join(folder, `declared/${adapter}.d.mts`), "utf8");
        const modules = Array.from(
          text.matchAll(/\b(?:from |import\()"([^"]+)"/g),
          ([, name]) => name ?? "",
        );
        expect(modules.filter((name) => /^[./]|\/dist\//.test(name))).toEqual([]);
      }
      expect(
        await check(
          compilers.own,
          files.map((file) => `importing/${file}`),
          options,
        ),
      ).toBe("");
    },
  );

  it("a CommonJS file of TypeScript compiles with the project's own and the newest version; the oldest reports TS1479", async () => {
    const files = ["application.cts"];
    const options = { esModuleInterop: true };
    expect(await check(compilers.own, files, options)).toBe("");
    expect(await check(compilers.newest, files, options)).toBe("");
    expect(await check(compilers.oldest, files, options)).toContain("TS1479");
  });

  it("module resolution node10, which doesn't read `exports`, finds every entry", async () => {
    const options = { module: "commonjs", moduleResolution: "node10", esModuleInterop: true };
    writeFileSync(path.join(folder, "node10.ts"), APPLICATION);
    const warned = { ...options, ignoreDeprecations: "6.0" };
    expect(await check(compilers.own, ["node10.ts"], warned)).toBe("");
    expect(await check(compilers.oldest, ["node10.ts"], options)).toBe("");
  });
});
