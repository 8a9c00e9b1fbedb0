import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { LOG_CODES, type LogCode } from "../../src/events/log-lines.js";

// docs/how-to/troubleshooting.md shows what idpauth writes, shortened.

const page = readFileSync(new URL("../../docs/how-to/troubleshooting.md", import.meta.url), "utf8");
const logLines = [...page.matchAll(/idpauth \w+ \w+: [^\n`]+/g)].map(([line]) => line);

describe("docs/how-to/troubleshooting.md", () => {
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
