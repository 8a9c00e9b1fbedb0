import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as suites from "../../packages/idpauth-conformance/src/index.js";
import { STORE_METHODS } from "../../packages/idpauth-conformance/src/store/store-under-test.js";

const pageAt = (page: string) =>
  readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
const page = pageAt("how-to/stores.md");

describe("docs/how-to/stores.md", () => {
  it.each([
    ["map-store.ts", "map-store.ts"],
    ["map-store.test.ts", "map-store.unit.test.ts"],
  ])("shows %s as it is run here", (shown, file) => {
    expect(page).toContain("`" + shown + "`");
    expect(page).toContain(
      "\n```ts\n" + readFileSync(new URL(file, import.meta.url), "utf8") + "```\n",
    );
  });

  it("names only functions that the package exports", () => {
    const names = [...page.matchAll(/import \{ ([\w, ]+) \} from "idpauth-conformance"/g)].flatMap(
      ([, list]) => list!.split(", "),
    );
    expect(names).toContain("checkStore");
    for (const name of names) expect(suites).toHaveProperty(name);
  });
});

describe("docs/reference/session-store.md", () => {
  it("has a row for each method of the port", () => {
    const rows = [...pageAt("reference/session-store.md").matchAll(/^\| `(\w+)\([^`]+\)` \|/gm)];
    expect(rows.map(([, method]) => method)).toEqual([
      ...STORE_METHODS,
      "getMany",
      "announceEnd",
      "watchEnds",
    ]);
  });
});
