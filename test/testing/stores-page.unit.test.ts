import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as kit from "../../src/testing/index.js";
import { STORE_METHODS } from "../../src/conformance/store/store-under-test.js";

const page = readFileSync(new URL("../../docs/how-to/stores.md", import.meta.url), "utf8");

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

  it("has a row for each method of the port", () => {
    const rows = [...page.matchAll(/^\| `(\w+)\([^`]+\)` \|/gm)].map(([, method]) => method);
    expect(rows).toEqual([...STORE_METHODS, "getMany", "announceEnd", "watchEnds"]);
  });

  it("names only functions that the kit exports", () => {
    const names = [...page.matchAll(/import \{ ([\w, ]+) \} from "idpauth\/testing"/g)].flatMap(
      ([, list]) => list!.split(", "),
    );
    expect(names).toContain("checkStore");
    for (const name of names) expect(kit).toHaveProperty(name);
  });
});
