import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createCertificate } from "../../scripts/certificate.mjs";
import { PROVIDER, settingsFor } from "./live-situations.mjs";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { buildPackage } from "../support/build.js";
import { ROOT } from "./live-run.js";

/** The build, as the package's own `idpauth` command. */
const CLI = path.join(ROOT, "dist/cli/idpauth.js");

const HOUR = 3_600_000;
const AUTHORITY = createCertificate({ name: "An authority of one's own", isAuthority: true });

let provider: TestProvider;
let folder: string;
const servers: Server[] = [];

beforeAll(async () => {
  await buildPackage();
  provider = await startTestProvider(PROVIDER);
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-check-"));
  writeFileSync(path.join(folder, "authority.pem"), AUTHORITY.cert);
});

afterAll(async () => {
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
  await provider.stop();
});

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(args: readonly string[], env: Record<string, string>, cwd = ROOT): Promise<Ended> {
  const child = spawn(process.execPath, [CLI, "check", "--live", ...args], {
    cwd,
    env: { PATH: process.env["PATH"], ...env },
  });
  const written = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (written.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (written.stderr += chunk.toString()));
  return new Promise((resolve, reject) => {
    child.on("error", reject).on("close", (code) => resolve({ code, ...written }));
  });
}

describe.concurrent("idpauth check --live, as a process", () => {
  it("writes the report into a pipe and ends by itself", async () => {
    const { code, stdout, stderr } = await run(["--json"], settingsFor(provider));
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      findings: [],
      facts: { client: "accepted", redirectUriRegistered: true },
    });
  });

  it("with --module checks the options of an Express application, which never exits by itself", async () => {
    const app = path.join(folder, "app");
    mkdirSync(path.join(app, "node_modules"), { recursive: true });
    symlinkSync(ROOT, path.join(app, "node_modules/idpauth"));
    symlinkSync(path.join(ROOT, "node_modules/express"), path.join(app, "node_modules/express"));
    writeFileSync(path.join(app, "settings.env"), "MAX_AGE=3600\n");
    writeFileSync(
      path.join(app, "auth.mjs"),
      `import express from "express";
import { idpAuth } from "idpauth/express";
export const auth = idpAuth({ sessionMaxAge: Number(process.env.MAX_AGE), sessionTtl: 60 });
const app = express();
auth.mount(app);
app.listen(0);
`,
    );
    const args = ["--json", "--module=./auth.mjs", "--env-file=settings.env"];
    const { code, stdout } = await run(args, settingsFor(provider), app);
    expect(code).toBe(0);
    const { findings, facts } = JSON.parse(stdout) as {
      findings: { code: string }[];
      facts: object;
    };
    expect(findings.map((finding) => finding.code).sort()).toEqual(["W005", "W012"]);
    expect(facts).toMatchObject({ client: "accepted" });
    const broken = await run(args.slice(0, 2), { ...settingsFor(provider), MAX_AGE: "-1" }, app);
    expect(broken.code).toBe(1);
    expect(JSON.parse(broken.stdout)).toMatchObject({ findings: [{ code: "E006" }] });
  });

  it("ends although the module of a store leaves something running, and shows it the settings", async () => {
    writeFileSync(
      path.join(folder, "store.mjs"),
      'if (process.env.FROM_FILE !== "yes") throw new Error();\nsetInterval(() => undefined, 1000);\nexport default {};\n',
    );
    writeFileSync(path.join(folder, "settings.env"), "FROM_FILE=yes\n");
    const args = ["--json", "--store=./store.mjs", "--env-file=settings.env"];
    const { code, stdout } = await run(args, settingsFor(provider), folder);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      findings: [
        { code: "E111", message: expect.stringContaining("doesn't return a session store") },
      ],
    });
  });

  it.each<[string, Parameters<typeof createCertificate>[0], boolean, string]>([
    [
      "has expired",
      {
        name: "localhost",
        authority: AUTHORITY,
        from: Date.now() - 48 * HOUR,
        until: Date.now() - HOUR,
      },
      true,
      "has expired",
    ],
    [
      "isn't valid yet",
      {
        name: "localhost",
        authority: AUTHORITY,
        from: Date.now() + HOUR,
        until: Date.now() + 2 * HOUR,
      },
      true,
      "isn't valid yet",
    ],
    [
      "is for another name",
      { name: "other.example", authority: AUTHORITY },
      true,
      "for another hostname",
    ],
    ["is self-signed", { name: "localhost" }, true, "self-signed"],
    ["is of an unknown authority", { name: "localhost", authority: AUTHORITY }, false, "unknown"],
  ])(
    "a certificate that %s is recognized: E102",
    async (_name, options, isAuthorityKnown, message) => {
      const server = createServer(createCertificate(options), (_request, response) =>
        response.end(),
      );
      servers.push(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      const { port } = server.address() as AddressInfo;
      const { code, stdout } = await run(["--json"], {
        ...settingsFor(provider),
        IDP_ISSUER: `https://localhost:${port}`,
        ...(isAuthorityKnown && { NODE_EXTRA_CA_CERTS: path.join(folder, "authority.pem") }),
      });
      expect(code).toBe(1);
      expect(JSON.parse(stdout)).toMatchObject({
        findings: [{ code: "E102", message: expect.stringContaining(message) }],
      });
    },
  );

  it("a certificate of an authority that is known is none to speak of", async () => {
    const server = createServer(
      createCertificate({ name: "localhost", authority: AUTHORITY }),
      (_request, response) => {
        response.statusCode = 404;
        response.end();
      },
    );
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const env = {
      ...settingsFor(provider),
      IDP_ISSUER: `https://localhost:${(server.address() as AddressInfo).port}`,
      NODE_EXTRA_CA_CERTS: path.join(folder, "authority.pem"),
    };
    const { stdout } = await run(["--json"], env);
    expect(JSON.parse(stdout)).toMatchObject({ findings: [{ code: "E103" }] });
  });
});
