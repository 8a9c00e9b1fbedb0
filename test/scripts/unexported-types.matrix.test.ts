import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it } from "vitest";
import { packageEntries, sourceOf } from "../../scripts/entries.mjs";
import { unexportedTypes } from "../../scripts/unexported-types.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");
const IMPORTED = `import { Base, Row } from "./rows.js";`;
/** Entries, each in one file, and the type of `rows` that an application can't import. */
const ENTRIES: Readonly<Record<string, readonly [text: string, missing?: string]>> = {
  unexported: [`${IMPORTED} export declare function read(): Row[];`, "Row"],
  extended: [`${IMPORTED} export interface Store extends Base {}`, "Row"],
  alias: [`${IMPORTED} export type Store = Base;`, "Row"],
  inner: [`${IMPORTED} interface Own { r: Row } export declare const own: Own; export {};`, "Row"],
  exported: [`${IMPORTED} export { Row } from "./rows.js"; export declare const row: Row;`],
  shared: [`${IMPORTED} export declare function read(): Row[];`],
  unnamed: [`${IMPORTED} export declare class Store<Key> { private row: Row; get(key: Key): Key }`],
};

it("a type that a signature names is found if no entry exports it, also in what an interface extends, in what an alias stands for, and in a type that its module keeps", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-types-"));
  try {
    const files = { rows: ["export interface Row { id: 1 } export interface Base { row: Row }"] };
    for (const [name, [text = ""]] of Object.entries({ ...files, ...ENTRIES }))
      writeFileSync(path.join(folder, `${name}.d.ts`), text);
    const entries = new Map(
      [...Object.keys(ENTRIES), "rows"].map((name) => [name, path.join(folder, `${name}.d.ts`)]),
    );
    const found = unexportedTypes(entries, (entry) => (entry === "shared" ? ["rows"] : []));
    expect(found.map(({ entry, type }) => [entry, type])).toEqual(
      Object.entries(ENTRIES).flatMap(([name, [, missing]]) =>
        missing === undefined ? [] : [[name, missing]],
      ),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** What idpauth keeps in a record for itself: no store and no application reads it. */
const PRIVATE = ["PrivateState"];

it("every type that a signature of the package names can be imported", () => {
  const entries = new Map(
    packageEntries()
      .filter(({ isProgram }) => !isProgram)
      .map((entry) => [entry.name, path.join(ROOT, sourceOf(entry))]),
  );
  const missing = unexportedTypes(entries, (entry) => [
    "idpauth",
    "idpauth/adapter",
    ...(/^idpauth\/(?:client\/|react$)/.test(entry) ? ["idpauth/client"] : []),
    ...(entry === "idpauth/react" ? ["idpauth/client/warning"] : []),
  ]);
  expect(missing.filter(({ type }) => !PRIVATE.includes(type))).toEqual([]);
});
