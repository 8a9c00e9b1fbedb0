import { expect, it } from "vitest";
import { notesOf, reasonsAgainst } from "../../scripts/release-readiness.mjs";

const project = {
  repository: "https://git.example/idpauth/idpauth",
  documentation: "https://idpauth.example",
  contact: "x@idpauth.example",
};
const changelog =
  "# Changelog\n\n## 0.2.0, 2026-01-02\n\n- One.\n\n### Sessions\n\n- Two.\n\n## 0.1.0\n\n- First.\n\n## 0.0.1\n";
const ready = {
  project,
  version: "0.1.0",
  conformance: { version: "0.1.0", peer: "0.1.0" },
  changelog,
  changes: [],
  isTaken: false,
};
const toVersion = (version: string) => ({ version, conformance: { version, peer: version } });

it("nothing is missing if the addresses, the notes and all commits are there", () => {
  expect(reasonsAgainst(ready)).toEqual([]);
});

it.each([
  [{ project: { ...project, contact: "" } }, 'project.json: "contact" is empty'],
  [toVersion("0.3.0"), 'CHANGELOG.md has no notes below the heading "## 0.3.0".'],
  [toVersion("0.0.1"), 'CHANGELOG.md has no notes below the heading "## 0.0.1".'],
  [
    { conformance: { version: "0.0.9", peer: "0.1.0" } },
    "packages/idpauth-conformance/package.json has the version 0.0.9 and needs idpauth 0.1.0. Set both to 0.1.0, and run `npm install --package-lock-only`.",
  ],
  [
    { conformance: { version: "0.1.0", peer: "0.0.9" } },
    "packages/idpauth-conformance/package.json has the version 0.1.0 and needs idpauth 0.0.9. Set both to 0.1.0, and run `npm install --package-lock-only`.",
  ],
  [{ changes: ["src/index.ts"] }, "Not committed: src/index.ts"],
  [
    { isTaken: true },
    "The tag v0.1.0 belongs to another commit. Raise the version in package.json.",
  ],
])("%j stops a release", (change, reason) => {
  expect(reasonsAgainst({ ...ready, ...change })).toEqual([reason]);
});

it("the notes of a version end before the next one", () => {
  expect(notesOf(changelog, "0.2.0")).toBe("- One.\n\n### Sessions\n\n- Two.");
  expect(notesOf(changelog, "0.1.0")).toBe("- First.");
});
