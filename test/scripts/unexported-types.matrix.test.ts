import path from "node:path";
import { expect, it } from "vitest";
import { packageEntries, sourceOf } from "../../scripts/entries.mjs";
import { unexportedTypes } from "../../scripts/unexported-types.mjs";

const ROOT = path.resolve(import.meta.dirname, "../..");

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
