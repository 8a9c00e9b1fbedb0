import { expect, it } from "vitest";
import { featureFiles } from "../../scripts/feature-files.mjs";

function countsOf(sources: Record<string, string>): Record<string, readonly string[]> {
  const found = [...featureFiles(new Map(Object.entries(sources)))];
  return Object.fromEntries(found.map(([{ name }, files]) => [name, files]));
}

it("a feature's files are those whose text names it, comments included", () => {
  const text = "// after a step-up\nconst acrs = registrations.popup;";
  expect(countsOf({ "endpoints/a.ts": text, "endpoints/across.ts": "a cross" })).toEqual({
    "several providers": ["endpoints/a.ts"],
    apis: [],
    "step-up": ["endpoints/a.ts"],
    PAR: [],
    csrf: [],
    popup: ["endpoints/a.ts"],
  });
});

it("languages, and what an application doesn't load are left out", () => {
  const text = "the popup";
  const sources = {
    "pages/locales/en.ts": text,
    "cli/a.ts": text,
    "testing/a.ts": text,
    "conformance/a.ts": text,
  };
  expect(countsOf(sources)["popup"]).toEqual([]);
});
