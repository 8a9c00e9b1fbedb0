import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");
const read = (file: string) => readFileSync(path.join(ROOT, file), "utf8");

const readme = read("README.md");
const peers = read("docs/evidence/peers.md");

/** Text without line breaks, and with only the words of its links. */
const plain = (text: string) => text.replace(/\s+/g, " ").replace(/\[([^\]]*)\]\([^)]*\)/g, "$1");

/** The cells of each row of a page's tables. */
const rowsOf = (page: string) =>
  page
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) =>
      plain(line)
        .slice(1, -1)
        .split("|")
        .map((cell) => cell.trim()),
    );

/** The rows of each table of a page. */
const tablesOf = (page: string) =>
  page.split(/\n{2,}/).flatMap((text) => (text.startsWith("| ") ? [rowsOf(text)] : []));

/** The items of the list that describes the race's figure. */
const race = [...peers.matchAll(/^- (.+): (\d+) of 200 requests succeed,/gm)].map(
  ([, product = "", succeeded = ""]) => ({ product, succeeded }),
);

describe("README.md", () => {
  it("has at most 7 KB", () => {
    expect(Buffer.byteLength(readme)).toBeLessThanOrEqual(7000);
  });

  it("names every provider and version that docs/evidence/interop.md has, and the project's own version", () => {
    const [, status = ""] = /\*\*Status:\*\* (.*?)\n\n/s.exec(readme) ?? [];
    const runs = rowsOf(read("docs/evidence/interop.md")).filter(
      ([, date]) => date !== undefined && /^\d{4}-\d\d-\d\d$/.test(date),
    );
    const { version } = JSON.parse(read("package.json")) as { version: string };
    expect(runs.length).toBeGreaterThan(5);
    for (const [, name = "", number = ""] of runs.map(
      ([provider = ""]) => /^(.+) ([\d.]+)$/.exec(provider) ?? [],
    ))
      expect(plain(status)).toMatch(
        new RegExp(
          `${name.replace(/[.]/g, "\\.")} (?:[\\d.]+ and )?${number.replaceAll(".", "\\.")}`,
        ),
      );
    expect(status.match(/\d+\.\d+\.\d+/g)).toHaveLength(runs.length + 1);
    expect(status).toMatch(new RegExp(`^${version.replaceAll(".", "\\.")}, `));
  });

  it("names every product of the race, with the version that docs/evidence/peers.md measured", () => {
    const [, section = ""] = /^## 200 requests at once\n(.*?)^\| /ms.exec(readme) ?? [];
    const [, table = ""] = /^## The products\n\n(.*?)\n\n/ms.exec(peers) ?? [];
    const versions = rowsOf(table).slice(2);
    expect(versions.map(([product]) => product)).toEqual(
      race.slice(1).map(({ product }) => product),
    );
    for (const [product = "", version = ""] of versions) {
      const [first, second] = version.split(" / ");
      const [one, other] = product.split(" with ");
      expect(plain(section)).toContain(
        second === undefined ? `${product} ${version}` : `${one} ${first} with ${other} ${second}`,
      );
    }
    expect(versions).toHaveLength(7);
    expect(section).toContain("seven others");
  });

  it("compares products in the words of docs/about/compare.md, and has the race's results", () => {
    const [products = [], results = [], ...rows] = rowsOf(readme).filter(
      ({ length }) => length === 7,
    );
    const compared = tablesOf(read("docs/about/compare.md"));
    expect(compared[0]?.slice(1, 7).map(([product]) => product)).toEqual(products.slice(1));
    expect(results.slice(1)).toEqual(
      products
        .slice(1)
        .map((product) => race.find((one) => one.product.startsWith(product))?.succeeded),
    );
    expect(rows).toHaveLength(5);
    for (const [label, ...cells] of rows) {
      const table = compared.find(([heads]) => heads?.includes(label ?? ""));
      const column = table?.[0]?.indexOf(label ?? "") ?? -1;
      expect(table?.slice(1, 7).map((row) => row[column])).toEqual(cells);
    }
  });

  it("names the guarantees as docs/explanation/guarantees.md does", () => {
    const names = (text: string) =>
      [...text.matchAll(/^\d\. \*\*(.+?)\.?\*\*/gm)].map(([, name]) => name);
    const guarantees = names(
      read("docs/explanation/guarantees.md").split("## The exceptions")[0] ?? "",
    );
    expect(guarantees).toHaveLength(7);
    expect(names(readme)).toEqual(guarantees);
  });

  it("says for whom it isn't in the words of docs/index.md", () => {
    const list = (page: string) => /^## Not for you if\n\n(.*?)\n\n/ms.exec(page)?.[1];
    expect(list(readme)).toBeDefined();
    expect(list(readme)).toBe(list(read("docs/index.md")));
  });
});
