import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readSettings } from "../../src/config/read-settings.js";

// What docs/how-to/production.md says besides its samples, which other tests run.

const DOCS = path.resolve(import.meta.dirname, "../../docs");
const read = (file: string) => readFileSync(path.join(DOCS, file), "utf8");
const PAGE = read("how-to/production.md");

describe("the settings of the page", () => {
  const env = Object.fromEntries(
    read("snippets/production/settings.env")
      .trim()
      .split("\n")
      .map((line) => line.split("=") as [string, string]),
  );
  const codes = (changed: Readonly<Record<string, string>>) =>
    readSettings({}, { ...env, ...changed }).findings.map(({ code }) => code);

  it("pass the startup checks without a warning once the key is a new one", () => {
    expect(codes({})).toEqual(["E013"]);
    expect(codes({ SECRET_KEY: "c29tZSByYW5kb20gYnl0ZXMgZm9yIHRoaXMgdGVzdA" })).toEqual([]);
  });

  it("have the session limits that the text names", () => {
    expect(PAGE).toContain("a maximum age of 12 hours and an idle timeout of 30 minutes");
    expect(env).toMatchObject({
      IDP_SESSION_MAX_AGE: String(12 * 60 * 60),
      IDP_SESSION_IDLE_TIMEOUT: String(30 * 60),
    });
  });
});

describe("the page's table of frameworks", () => {
  it.each([
    ["Koa", "koa"],
    ["Hono", "hono"],
    ["node:http", "node"],
  ])("has the line of the sample for %s, whose handler is the one for Express", (name, file) => {
    const [, line = ""] = new RegExp(`^\\| ${name} \\| \`(.+?)\``, "m").exec(PAGE) ?? [];
    const sample = read(`snippets/production/${file}.mjs`);
    expect(line).toContain("(");
    expect(sample).toContain(line);
    const handler = (source: string) => /^process\.once\(.+?^\}\);$/ms.exec(source)?.[0];
    expect(handler(sample)).toBe(handler(read("snippets/production/express.mjs")));
  });
});
