import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const SOURCES = fileURLToPath(new URL("../../src/", import.meta.url));

/**
 * The code that runs in an application: without comments, by path. What is for tests, and the
 * command, is left out.
 */
const files = new Map(
  readdirSync(SOURCES, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !/^(?:testing|conformance|cli)[\\/]/.test(path))
    .map((path) => [
      relative(SOURCES, join(SOURCES, path)).split(sep).join("/"),
      withoutComments(readFileSync(join(SOURCES, path), "utf8")),
    ]),
);

function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\//g, "").replace(/(^|\s)\/\/.*$/gm, "$1");
}

/** The places where something stands, as `path: line`. @param following lines that are added */
function uses(pattern: RegExp, following = 0): string[] {
  return [...files].flatMap(([path, text]) => {
    const lines = text.split("\n").map((line) => line.trim());
    return lines.flatMap((line, index) =>
      pattern.test(line) ? [`${path}: ${lines.slice(index, index + 1 + following).join(" ")}`] : [],
    );
  });
}

const filesWith = (pattern: RegExp) =>
  [...new Set(uses(pattern).map((use) => use.slice(0, use.indexOf(":"))))].sort();

describe("the source", () => {
  it("is all there to be checked", () => {
    expect(files.size).toBeGreaterThan(80);
    expect(uses(/randomBytes\(32\)/).length).toBeGreaterThanOrEqual(2);
  });

  it("[ASVS-11.5.1] [PKCE-1] [ASVS-7.2.1] makes state, nonce, verifier and session identifier of 256 bits from the system's generator", () => {
    // One for the login's values, one for the session's identifier.
    expect([...files.values()].join("\n")).toMatch(
      /function unguessable\(\): string \{\s+return randomBytes\(32\)/,
    );
    expect(uses(/return randomBytes\(32\)\.toString\("base64url"\)/)).toHaveLength(2);
    for (const name of ["state", "nonce", "verifier"])
      expect(uses(new RegExp(`\\b${name}: unguessable\\(\\)`)), name).toHaveLength(1);
  });

  it("[ASVS-11.5.1] uses Math.random to spread pauses in time, and for nothing else", () => {
    const randoms = uses(/Math\.random/);
    expect(randoms.length).toBeGreaterThan(0);
    for (const use of randoms)
      expect(use).toMatch(/: .*(?:pause|wait\(|estimate|random = Math\.random)/i);
  });

  it("[ASVS-11.5.1] makes no identifier of a UUID: one is used in tests' sessions alone, as part of a name", () => {
    expect(
      filesWith(/randomUUID|\buuid\(|\bnanoid\b/i).filter((path) => !path.includes("for-tests")),
    ).toEqual([]);
  });

  it("[F14] never turns off the check of certificates", () => {
    // One startup check reads the variable, and its message names it.
    expect(
      uses(
        /NODE_TLS_REJECT_UNAUTHORIZED(?!"\] === "0"| is 0)|rejectUnauthorized(?!: true)|checkServerIdentity/,
      ),
    ).toEqual([]);
    // http, where the settings' own rule lets it be: on loopback, or in debug mode.
    expect(filesWith(/allowInsecureRequests/)).toHaveLength(1);
  });

  it("[ASVS-15.3.2] has one place that sends requests to the provider, and it follows no redirect", () => {
    // The browser's client asks its own server.
    expect(
      uses(/\bfetch\(/, 2).filter(
        (use) => !/^(?:adapters|client)\/|function|customFetch\]/.test(use),
      ),
    ).toEqual([expect.stringContaining('redirect: "manual"')]);
    // The proxy sends requests to the application's APIs, never to the provider.
    const ofProxy = [
      "apis/api-timeout.ts",
      "apis/connections.ts",
      "apis/node-transport.ts",
      "apis/proxy-over-node.ts",
      "apis/websocket.ts",
      "auth/api-proxy.ts",
    ];
    expect(filesWith(/from "node:https?"/).filter((path) => !path.startsWith("adapters/"))).toEqual(
      ofProxy,
    );
    expect(uses(/redirect: "follow"/)).toEqual([]);
  });

  it("[SM-2] names its cookie by what it is for, with nothing of the technology or the user in it", () => {
    const names = uses(/__Host-|"idpauth"/).filter((use) => use.startsWith("sessions/"));
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) expect(name).not.toMatch(/express|node|php|java|asp|sub|email/i);
  });

  it("runs no string as code, and builds no page with script but for the file that a popup closes with", () => {
    expect(uses(/\beval\(|new Function\(|vm\.run|setTimeout\("/i)).toEqual([]);
    expect(uses(/<script/i)).toEqual([
      expect.stringMatching(
        /^pages\/layout\.ts: .*<script src="\$\{publicPath\}\$\{script\}" defer><\/\$\{SCRIPT\}>/,
      ),
    ]);
  });

  it("[BCP-13] never lets forwarded or rewritten addresses be read but by the one rule for proxies", () => {
    const names =
      /x-original-url|x-rewrite-url|x-forwarded-(?:uri|port|prefix|method)|["']forwarded["']/i;
    // The proxy drops them from the requests to APIs.
    expect(filesWith(names)).toEqual(["apis/request-headers.ts"]);
  });

  it("[ASVS-16.4.1] writes nowhere but to its log, whose default is one place, and the stack of a handler that failed to stderr", () => {
    // The client's hints to developers, in the browser.
    expect(uses(/\bconsole\./)).toEqual([
      expect.stringMatching(/^client\/browser-client\.ts: env\.console\.warn\(/),
      expect.stringMatching(/^client\/waiting-requests\.ts: .*env\.console\.warn\(/),
    ]);
    const writes = uses(/process\.(?:stderr|stdout)\.write/, 2);
    expect(writes).toHaveLength(2);
    for (const write of writes)
      expect(write).toMatch(/stderr\.write\(.*(?:\$\{level\}|error\.stack)/);
  });
});
