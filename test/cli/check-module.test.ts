import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import express from "express";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROVIDER, settingsFor, stopAfterRefusals } from "./live-situations.mjs";
import { idpAuth } from "../../src/adapters/express/express.js";
import { idpauth } from "../../src/cli/check-command.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { checkIo } from "./live-run.js";

const OPTIONS = {
  env: {},
  secretKey: "an-example-of-a-key-with-32-bytes!",
  clientId: "client",
  clientSecret: "hunter2-of-the-client",
  issuer: "https://login.example",
  scope: ["openid", "offline_access"],
  baseUrl: "https://app.example",
  log: false,
} as const satisfies IdpAuthOptions;

/** Runs the check of a module that would export this, or fail like this. */
async function run(load: () => unknown, ...argv: string[]) {
  const written = { stdout: "", stderr: "" };
  const imported: [file: string, env: unknown][] = [];
  const io = checkIo({
    folder: "/project",
    importModule: async (file, env) => {
      imported.push([file, env]);
      return load();
    },
  });
  const readText = () => "FROM_FILE=yes\n";
  const write = (text: string, stream: "stdout" | "stderr") => (written[stream] += text);
  const code = await idpauth(["check", "--module=./auth.mjs", ...argv], {
    env: { HOME: "/" },
    write,
    readText,
    io,
  });
  expect(written.stdout + written.stderr).not.toContain("hunter2");
  return { code, ...written, imported };
}

async function report(load: () => unknown, ...argv: string[]) {
  const { code, stdout } = await run(load, "--json", ...argv);
  const { findings, notSeen, facts } = JSON.parse(stdout) as {
    findings: { code: string }[];
    notSeen: string[];
    facts?: Record<string, unknown>;
  };
  return {
    code,
    codes: findings.map((finding) => finding.code),
    notSeen: notSeen.join("\n"),
    facts,
  };
}

const exporting = (options: IdpAuthOptions) => () => ({ auth: idpAuth(options) });

describe("idpauth check --module", () => {
  it("finds errors in options, and says where it can't see", async () => {
    const { code, codes, notSeen } = await report(
      exporting({ ...OPTIONS, sessionMaxAge: -1, cookieNam: "x" } as IdpAuthOptions),
    );
    expect([code, codes]).toEqual([1, ["E010", "E006"]]);
    expect(notSeen).not.toContain("Options in code");
    expect(notSeen).not.toContain("Where sessions are stored");
    expect(notSeen).toContain("The session middleware (E002, W008)");
  });

  it("exits with 0 on warnings, and knows which store is given", async () => {
    expect(await report(exporting(OPTIONS))).toMatchObject({ code: 0, codes: ["W005"] });
  });

  it("doesn't warn that it can't see the session middleware", async () => {
    expect((await report(exporting({ ...OPTIONS, session: "host" }))).codes).toEqual(["W006"]);
  });

  it("checks the guards of the routes in the module", async () => {
    const load = () => {
      const auth = idpAuth(OPTIONS);
      auth.idpRequiredWith({ provider: "staff" });
      return { auth };
    };
    expect((await report(load)).codes).toContain("E027");
  });

  it("reports what a module that mounts idpauth throws during its import", async () => {
    const load = () => {
      const auth = idpAuth({ ...OPTIONS, secretKey: "" });
      auth.mount(express());
      return { auth };
    };
    expect(await report(load)).toMatchObject({ code: 1, codes: ["E001"] });
  });

  it("resolves the path from the current folder, and passes on --env-file", async () => {
    const { imported } = await run(exporting(OPTIONS), "--env-file=.env");
    expect(imported).toEqual([
      [path.resolve("/project/auth.mjs"), { FROM_FILE: "yes", HOME: "/" }],
    ]);
  });

  it.each<[string, () => unknown, string]>([
    ["without an export `auth`", () => ({ default: idpAuth(OPTIONS) }), "doesn't export `auth`"],
    [
      "whose `auth` is something else",
      () => ({ auth: { start: () => [] } }),
      "isn't what idpAuth() returned",
    ],
    ["whose `auth` is null", () => ({ auth: null }), "isn't what idpAuth() returned"],
    [
      "that throws",
      () => {
        throw new Error("postgres://user:hunter2@db");
      },
      "can't be loaded: it fails. Run it with node to see its error",
    ],
    [
      "that doesn't exist",
      () => {
        throw Object.assign(new Error("Cannot find module"), { code: "ERR_MODULE_NOT_FOUND" });
      },
      "can't be loaded: it doesn't exist, or imports a module that doesn't exist",
    ],
    [
      "in TypeScript, for a Node.js that doesn't load it",
      () => {
        throw Object.assign(new TypeError('Unknown file extension ".ts"'), {
          code: "ERR_UNKNOWN_FILE_EXTENSION",
        });
      },
      "For TypeScript, install tsx and set NODE_OPTIONS=--import=tsx.",
    ],
  ])("a module %s is wrong usage", async (_name, load, message) => {
    const { code, stdout, stderr } = await run(load);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(
      /^idpauth: the (?:module|export `auth` of) \.\/auth\.mjs|^idpauth: the export `auth` of/,
    );
    expect(stderr).toContain(message);
  });
});

describe("idpauth check --module --live", () => {
  let provider: TestProvider;

  beforeAll(async () => {
    provider = await startTestProvider(PROVIDER);
  });

  afterAll(() => stopAfterRefusals(provider));

  const own = () => ({
    issuer: provider.issuer,
    clientId: provider.clientId,
    clientSecret: provider.clientSecret,
  });

  it("checks the provider with the options in code, through the application's own fetch", async () => {
    let requests = 0;
    const through: typeof fetch = (input, init) => {
      requests += 1;
      return fetch(input, init);
    };
    const env = settingsFor(provider);
    const options = {
      env: { ...env, IDP_CLIENT_SECRET: "wrong" },
      clientSecret: provider.clientSecret,
      fetch: through,
      log: false,
    } as const;
    const { code, codes, facts, notSeen } = await report(exporting(options), "--live");
    expect([code, codes.filter((one) => one !== "W005")]).toEqual([0, []]);
    expect(facts).toMatchObject({ client: "accepted", redirectUriRegistered: true });
    expect(requests).toBeGreaterThan(3);
    expect(notSeen).not.toContain("Options in code");
  });

  it("prints and checks what a login requests: the scopes and resources of the APIs, too", async () => {
    provider.discoveryDocument = (document) => ({
      ...document,
      scopes_supported: ["openid", "email", "profile", "offline_access"],
    });
    const url = "https://api.internal/";
    const apis = {
      orders: { url, scope: "orders", resource: "https://orders.example.com" },
      billing: { url, scope: "billing", consent: "later" },
      own: { url },
    } as const;
    const load = exporting({ ...OPTIONS, ...own(), apis });
    const { stdout } = await run(load, "--live");
    provider.discoveryDocument = undefined;
    expect(stdout).toMatch(/scope of a login: openid .*\borders\n/);
    expect(stdout).toContain("resource of a login: https://orders.example.com\n");
    const warned = [...stdout.matchAll(/`apis\.(\w+)` requests `?(\w+)/g)];
    expect(warned.map(([, api, scope]) => [api, scope])).toEqual([
      ["orders", "orders"],
      ["billing", "billing"],
    ]);
  });

  it("checks each of several providers", async () => {
    const providers = {
      staff: own(),
      partners: { ...own(), clientId: "nobody", clientSecret: "hunter2-too" },
    };
    const { clientId: _id, clientSecret: _secret, issuer: _issuer, ...common } = OPTIONS;
    const { code, codes, facts } = await report(exporting({ ...common, providers }), "--live");
    expect([code, codes]).toEqual([1, expect.arrayContaining(["E109"])]);
    expect(facts).toMatchObject({ staff: { client: "accepted" }, partners: { client: "refused" } });
  });

  it("doesn't send anything while the settings contain an error", async () => {
    const { code, codes, notSeen } = await report(
      exporting({ ...OPTIONS, ...own(), secretKey: "" }),
      "--live",
    );
    expect([code, codes]).toEqual([1, ["E001"]]);
    expect(notSeen).toContain("The identity provider: not checked");
  });
});

describe("a module in a project", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-module-"));
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it("is imported from its file", async () => {
    writeFileSync(path.join(folder, "auth.mjs"), "export const auth = {};\n");
    const written: string[] = [];
    const code = await idpauth(["check", "--module=auth.mjs"], {
      env: {},
      write: (text) => written.push(text),
      readText: () => "",
      io: checkIo({ folder }),
    });
    expect([code, written.join("")]).toEqual([
      2,
      expect.stringContaining("isn't what idpAuth() returned"),
    ]);
  });
});
