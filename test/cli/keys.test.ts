import { createPrivateKey } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { keysCommand } from "../../src/cli/keys-command.js";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "idpauth-keys-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

function run(...argv: string[]) {
  const output = { stdout: "", stderr: "" };
  const code = keysCommand(argv, folder, (text, stream) => (output[stream] += text));
  return { code, ...output };
}

it.each([
  [[], "idp-private-key.pem", "RSA"],
  [["--type=ec", "--file=client.pem"], "client.pem", "EC"],
  [["--type=ed25519"], "idp-private-key.pem", "OKP"],
])(
  "%j writes a private key that only its owner can read, and prints the public half",
  (argv, file, kty) => {
    const { code, stdout, stderr } = run(...argv);
    expect(code).toBe(0);
    const written = path.join(folder, file);
    if (process.platform !== "win32") expect(statSync(written).mode & 0o777).toBe(0o600);
    const { d = "no d" } = createPrivateKey(readFileSync(written, "utf8")).export({
      format: "jwk",
    });
    const { keys } = JSON.parse(stdout) as {
      keys: Record<string, string>[];
    };
    expect(keys).toEqual([expect.objectContaining({ kty, use: "sig" })]);
    expect(stderr).toContain(`IDP_PRIVATE_KEY=file:${file}`);
    expect(stdout + stderr).not.toContain(d);
  },
);

it("never overwrites a file", () => {
  writeFileSync(path.join(folder, "idp-private-key.pem"), "the key in use");
  expect(run()).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("exists already") as string,
  });
  expect(readFileSync(path.join(folder, "idp-private-key.pem"), "utf8")).toBe("the key in use");
});

it.each([["--type=dsa"], ["--file="], ["keys.pem"], ["--bits=4096"]])(
  "%s is wrong usage, and no key is written",
  (argument) => {
    expect(run(argument)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Usage: idpauth keys") as string,
    });
    expect(existsSync(path.join(folder, "idp-private-key.pem"))).toBe(false);
  },
);

it("a folder that isn't there is reported", () => {
  expect(run("--file=nowhere/key.pem")).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("ENOENT") as string,
  });
});

it("prints its help", () => {
  expect(run("--help")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("Usage: idpauth keys") as string,
  });
});
