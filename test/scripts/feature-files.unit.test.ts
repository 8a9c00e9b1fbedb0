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

it("a word that only contains a feature's name doesn't name it", () => {
  const text = "capitalized, in capital letters, across a registration; // may compress, unpaired";
  expect(Object.values(countsOf({ "http/a.ts": text })).flat()).toEqual([]);
});

it.each([
  ["apis", "loadFetchApi"],
  ["apis", "ApiTokenError"],
  ["apis", "apiTokenOutcome"],
  ["apis", "the APIs"],
  ["step-up", "STEP_UP, acr_values"],
  ["step-up", "acrs"],
  ["step-up", "requestsAuthTime"],
  ["several providers", "of(record, registrations)"],
  ["csrf", "cross-site"],
])("%s: %s names it", (feature, text) => {
  expect(countsOf({ "http/a.ts": text })[feature]).toEqual(["http/a.ts"]);
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
