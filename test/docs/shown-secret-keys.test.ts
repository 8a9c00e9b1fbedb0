import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readSettings } from "../../src/config/read-settings.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const FILES = execFileSync("git", ["ls-files", "*.md", "*.env", ".env*", "examples", "docs"], {
  cwd: ROOT,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => /\.(?:md|env|[cm]?[jt]sx?|json|ya?ml)$|(?:^|\/)\.env/.test(file));

/**
 * `SECRET_KEY=…` of a shell or an env file, `secretKey: "…"` of code, and the same of the
 * fallbacks.
 */
const SHOWN =
  /SECRET_KEY(?:_FALLBACKS)?\s*=\s*["'`]?([^\s"'`]+)|(?:SECRET_KEY|secretKey)(?:_FALLBACKS|Fallbacks)?["']?:\s*\[?\s*["'`]([^"'`]+)["'`]/g;

const shown = FILES.flatMap((file) =>
  [...readFileSync(path.join(ROOT, file), "utf8").matchAll(SHOWN)].map((match) => ({
    file,
    value: match[1] ?? match[2] ?? "",
  })),
)
  // A variable, a command, or prose after a colon is no value.
  .filter(({ value }) => !/^(?:\$|process\.|…|<)/.test(value));

describe("[START-2] a value that the documentation shows for SECRET_KEY", () => {
  it("is found in the documentation and in every example's README", () => {
    const files = shown.map(({ file }) => file);
    expect(files).toContain("docs/providers/index.md");
    for (const framework of [
      "express",
      "fastify",
      "fetch",
      "hono",
      "koa",
      "nestjs",
      "next",
      "node",
    ])
      expect(files).toContain(`examples/${framework}/README.md`);
  });

  it.each(shown)("$file: $value is refused", ({ value }) => {
    const env = {
      SECRET_KEY: value,
      IDP_CLIENT_ID: "client",
      IDP_CLIENT_SECRET: "secret",
      SCOPE: "openid",
    };
    expect(readSettings({}, env).findings.map(({ code }) => code)).toContain("E013");
  });
});
