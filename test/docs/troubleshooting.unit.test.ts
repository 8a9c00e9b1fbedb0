import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LOG_CODES, type LogCode } from "../../src/events/log-lines.js";

// docs/how-to/troubleshooting.md shows what idpauth writes, shortened.

const read = (name: string) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
const page = read("how-to/troubleshooting.md");
const recorded = new Set(read("evidence/check-live.md").split("\n"));
const shown = [...page.matchAll(/^( *)```console\n(.*?)^\1```$/gms)].flatMap(([, , text = ""]) =>
  text.trimEnd().split("\n"),
);
const logLines = [...page.matchAll(/idpauth \w+ \w+: [^\n`]+/g)].map(([line]) => line);

describe("docs/how-to/troubleshooting.md", () => {
  it("shows outputs of `idpauth check --live` as they are recorded", () => {
    const outputs = shown.filter((line) => line !== "" && !line.trim().startsWith("idpauth "));
    expect(outputs.filter((line) => /^ {2}[EW]\d+ /.test(line)).length).toBeGreaterThanOrEqual(4);
    const cookie =
      "  - session cookie: __Host-Http-idpauth; Path=/; HttpOnly; SameSite=Lax; Secure";
    expect(recorded).toContain(cookie);
    expect(outputs.filter((line) => !recorded.has(line))).toEqual([]);
  });

  it("shows log lines with the level and the text of their codes", () => {
    const known = logLines.filter((line) => !/ (?:login_loop|provider_unavailable): /.test(line));
    expect(known.length).toBeGreaterThan(2);
    for (const line of known) {
      const [, level, code = "", text] = /^idpauth (\w+) (\w+): (.*)$/.exec(line) ?? [];
      const [ownLevel, ownText] = LOG_CODES[code as LogCode];
      expect(ownLevel, line).toBe(level);
      expect(text?.startsWith(ownText), line).toBe(true);
    }
  });
});
