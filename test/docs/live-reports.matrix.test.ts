import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { beforeAll, expect, it } from "vitest";
import { startTestProvider } from "../../src/testing/provider/test-provider.js";
import { ROOT, textOfLive } from "../cli/live-run.js";
import { onStage, settingsFor, SITUATIONS } from "../cli/live-situations.mjs";

// The pages show lines of reports of `idpauth check --live`, shortened.

const DOCS = path.join(ROOT, "docs");
const PAGES = [
  "how-to/troubleshooting.md",
  ...readdirSync(path.join(DOCS, "providers")).map((name) => `providers/${name}`),
];
/** The lines of all reports, and the settings that lead to them. */
const reported = new Set(["$ npx --no idpauth check --live"]);

beforeAll(async () => {
  for (const { prepare } of SITUATIONS) {
    const folder = mkdtempSync(path.join(tmpdir(), "idpauth-check-"));
    try {
      await onStage(startTestProvider, folder, async (stage) => {
        const { env, store, inFolder = false, clock = 0 } = await prepare(stage);
        const report = await textOfLive(
          { ...settingsFor(stage.provider), ...env },
          {
            args: store === undefined ? [] : [`--store=${store}`],
            ahead: clock,
            folder: inFolder ? folder : ROOT,
          },
        );
        const exported = Object.entries(env).map(
          ([name, value]) => `$ export ${name}="${value ?? ""}"`,
        );
        for (const line of plain([...exported, report].join("\n")).split("\n")) reported.add(line);
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}, 120_000);

it.each(PAGES)("docs/%s shows only lines that `idpauth check --live` writes", (page) => {
  const text = readFileSync(path.join(DOCS, page), "utf8");
  const shown = [...text.matchAll(/^( *)```console\n(.*?)^\1```$/gms)]
    .flatMap(([, , block = ""]) => block.trimEnd().split("\n"))
    .filter((line) => line !== "" && !line.trim().startsWith("idpauth "));
  expect(shown.filter((line) => !reported.has(line))).toEqual([]);
});

it("docs/how-to/troubleshooting.md shows several findings", () => {
  const text = readFileSync(path.join(DOCS, PAGES[0]!), "utf8");
  expect(text.match(/^ *[EW]\d+ (?:error|warning): /gm)?.length).toBeGreaterThanOrEqual(4);
});

/** Without what is different each time. */
function plain(text: string): string {
  return text
    .replace(/\b(127\.0\.0\.1|localhost):\d{4,5}\b/g, (whole, host: string) =>
      whole === "localhost:3000" ? whole : `${host}:8080`,
    )
    .replace(/[\d.]+ ms for a read/g, "0.1 ms for a read")
    .replace(/about (?:299|301) (s\b|seconds)/g, "about 300 $1");
}
