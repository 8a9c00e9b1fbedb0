import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROVIDER, settingsFor, stopAfterRefusals } from "./live-situations.mjs";
import { idpauth } from "../../src/cli/check-command.js";
import { clockFindings } from "../../src/live/check-clock.js";
import type { Exchange } from "../../src/live/timed-fetch.js";
import { startTestProvider, type TestProvider } from "../../src/testing/provider/test-provider.js";
import { checkIo, runLive } from "./live-run.js";

let provider: TestProvider;

beforeAll(async () => {
  provider = await startTestProvider(PROVIDER);
});

afterAll(() => stopAfterRefusals(provider));

const FILES: Record<string, string> = {
  ".env": "IDP_CLIENT_SECRET=not the right one\nSCOPE=openid profile offline_access\n",
};

async function run(
  argv: readonly string[],
  changes: Parameters<typeof checkIo>[0] = {},
  env: Record<string, string | undefined> = {},
) {
  const written = { stdout: "", stderr: "" };
  const code = await idpauth(argv, {
    env: { ...settingsFor(provider), ...env },
    write: (text, stream) => (written[stream] += text),
    readText: (file) => FILES[file]!,
    io: checkIo(changes),
  });
  return { code, ...written };
}

describe("the report of a live check", () => {
  it("in plain text lists the findings by group, the facts, and what was not checked", async () => {
    const { code, stdout, stderr } = await run(
      ["check", "--live"],
      {},
      { SCOPE: "", IDP_CLIENT_SECRET: "wrong" },
    );
    expect([code, stderr]).toEqual([1, ""]);
    const places = [
      "idpauth check: 1 error, 1 warning",
      "\nlive:\n  E109 error:",
      "\ndefaults:\n  E004",
      "\nfacts:\n",
      "\nnot checked:\n",
    ];
    const at = places.map((text) => stdout.indexOf(text));
    expect(at).not.toContain(-1);
    expect(at[3]).toBeGreaterThan(Math.max(at[1]!, at[2]!));
    expect(stdout).toContain(
      "  - redirect URI: https://app.example/idpauth/login-callback (the provider redirects to it)\n",
    );
    expect(stdout).toContain(
      "  - session cookie: __Host-Http-idpauth; Path=/; HttpOnly; SameSite=Lax; Secure\n",
    );
    expect(stdout).not.toContain("it is not asked, so nobody knows yet");
    expect(stdout).not.toContain("wrong");
  });

  it("as JSON is one object, each finding in its group", async () => {
    const report = await runLive({ ...settingsFor(provider), IDP_CLIENT_SECRET: "wrong" });
    expect(Object.keys(JSON.parse(report.output))).toEqual([
      "ok",
      "errors",
      "warnings",
      "findings",
      "notSeen",
      "facts",
    ]);
    expect(report).toMatchObject({
      code: 1,
      ok: false,
      errors: 1,
      warnings: 0,
      findings: [{ code: "E109", group: "live" }],
    });
  });

  it("names its steps on a terminal's stderr, and nowhere else", async () => {
    const { stdout, stderr } = await run(["check", "--live", "--json"], { isTerminal: true });
    expect(stderr.split("\n").filter((line) => line !== "")).toEqual([
      "checking: the provider's discovery document …",
      "checking: the provider's signing keys …",
      "checking: whether the provider accepts the client …",
      "checking: whether the provider knows the redirect URI …",
    ]);
    expect(() => JSON.parse(stdout) as unknown).not.toThrow();
  });

  it("reads --env-file, and the environment wins over it", async () => {
    expect((await run(["check", "--live", "--env-file=.env"])).code).toBe(0);
    const env = settingsFor(provider);
    delete env["IDP_CLIENT_SECRET"];
    const written: string[] = [];
    const code = await idpauth(["check", "--live", "--env-file=.env"], {
      env,
      write: (text) => written.push(text),
      readText: (file) => FILES[file]!,
      io: checkIo(),
    });
    expect(code).toBe(1);
    expect(written.join("")).toContain("E109");
  });
});

describe("usage", () => {
  it.each([
    [["check", "--store=sqlite:x"], "--store needs --live"],
    [["check", "--live", "--store="], "--store needs =STORE"],
    [["check", "--report"], "--report needs --live"],
    [["check", "--live", "--report="], "--report needs =FILE"],
    [["check", "--live", "--report", "--report=other.md"], "--report is given more than once"],
    [["check", "--live", "--stores=redis://me:hunter2@h"], 'unknown option "--stores=…"'],
    [["--live", "redis://me:hunter2@h"], "unknown command"],
    [
      ["check", "--live", "--store=mysql://me:hunter2@host"],
      "--store has an unknown form. It takes redis://…, rediss://…, postgres://…, sqlite:PATH, ./module.mjs or env:NAME",
    ],
    [
      ["check", "--live", "--store=sqlite:x", "--store=sqlite:y"],
      "--store is given more than once",
    ],
  ])("%j exits with 2, sends nothing and repeats no address", async (argv, message) => {
    const before = provider.requests.length;
    const { code, stdout, stderr } = await run(argv);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`idpauth: ${message}\n`);
    expect(stderr).not.toContain("hunter2");
    expect(provider.requests).toHaveLength(before);
  });

  it("--help describes --live and of each form of --store", async () => {
    const { stdout } = await run(["check", "--help"]);
    for (const form of [
      "--live",
      "redis://",
      "rediss://",
      "postgres://",
      "sqlite:PATH",
      "./module.mjs",
      "env:NAME",
    ]) {
      expect(stdout).toContain(form);
    }
  });

  it("without --live nothing is sent", async () => {
    const before = provider.requests.length;
    expect((await run(["check"])).stdout).toContain("--live checks it");
    expect(provider.requests).toHaveLength(before);
  });
});

describe("the clocks", () => {
  const NOW = Date.UTC(2030, 0, 1, 12);

  /**
   * An answer of a provider whose clock is so many seconds ahead, half way through its round trip.
   */
  function exchange(
    ahead: number,
    { trip = 0, ...changes }: Partial<Exchange> & { trip?: number } = {},
  ): Exchange {
    const date = new Date(Math.floor((NOW + ahead * 1000) / 1000) * 1000).toUTCString();
    return {
      status: 200,
      method: "GET",
      address: "https://provider.example/",
      date,
      age: null,
      sentAt: NOW - trip / 2,
      receivedAt: NOW + trip / 2,
      ...changes,
    };
  }

  it.each<[string, Exchange[], string[], number | null]>([
    ["agree", [exchange(0)], [], 0],
    ["agree, within a second", [exchange(0.9)], [], 0],
    ["differ by what is tolerated", [exchange(5)], [], 6],
    [
      "differ: the provider is ahead, and every ID token would be refused",
      [exchange(7)],
      ["E110"],
      8,
    ],
    ["differ: the provider is behind by what is tolerated", [exchange(-6)], [], -5],
    ["differ: the provider is behind", [exchange(-20)], ["W106"], -19],
    ["differ: the provider is far behind", [exchange(-90)], ["E110"], -89],
    ["cannot be told apart over a long way", [exchange(7, { trip: 10_000 })], [], 8],
    [
      "cannot be known without a date",
      [exchange(0, { date: null }), exchange(0, { date: "yesterday" })],
      [],
      null,
    ],
    ["are not compared with what a cache has kept", [exchange(-900, { age: "900" })], [], null],
    [
      "are compared with the token endpoint, which no cache answers for",
      [exchange(-900), exchange(0, { method: "POST" })],
      [],
      0,
    ],
  ])("%s", (_name, exchanges, codes, offset) => {
    const result = clockFindings(exchanges, 5);
    expect(result.findings.map(({ code }) => code)).toEqual(codes);
    if (offset === null) expect(result.offset).toBeNull();
    else expect(Math.abs(result.offset! - offset)).toBeLessThanOrEqual(1);
  });

  it.each([
    [300_000, ["E110"]],
    [20_000, ["W106"]],
    [-20_000, ["E110"]],
    [3_000, []],
  ])("of a machine that is %i ms ahead of a real provider", async (ahead, codes) => {
    const began = performance.now();
    const report = await runLive(settingsFor(provider), { ahead });
    const took = (performance.now() - began) / 1000;
    expect(report.codes).toEqual(codes);
    expect(Math.abs(report.facts.clockOffset! + ahead / 1000)).toBeLessThanOrEqual(2 + took);
  });
});
