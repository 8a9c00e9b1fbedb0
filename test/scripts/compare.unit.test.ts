import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { peersPage } from "../../bench/compare/page.mjs";
import { NAMES } from "../../bench/compare/peer.mjs";
import { readPeers } from "../../bench/compare/results.mjs";
import { addedPackages } from "../../bench/compare/size.mjs";
import { figures } from "../../site/diagrams/index.mjs";
import { root } from "../../scripts/run.mjs";

const results = readPeers();
const peers = path.join(root, "bench/peers");

it("every folder of bench/peers is a peer, and every peer has results", () => {
  const folders = readdirSync(peers, { withFileTypes: true }).filter((each) => each.isDirectory());
  expect(folders.map(({ name }) => name).toSorted()).toEqual(NAMES.toSorted());
  expect(Object.keys(results.peers)).toEqual(NAMES);
});

it("every peer was in every situation, or the page says why not", () => {
  for (const [name, peer] of Object.entries(results.peers)) {
    if (peer.missing !== undefined) continue;
    for (const { key } of results.situations) {
      const result = peer.situations[key];
      expect(result, `${name}: ${key}`).toBeDefined();
      expect(result, `${name}: ${key}`).not.toHaveProperty("failed");
    }
  }
});

it.each(NAMES.filter((name) => existsSync(path.join(peers, name, "package-lock.json"))))(
  "%s was run in the version that its lock file installs; if not, run `npm run compare`",
  (name) => {
    const lock = readFileSync(path.join(peers, name, "package-lock.json"), "utf8");
    const versions = results.peers[name]?.version?.split(" / ") ?? [];
    expect(versions.length).toBeGreaterThan(0);
    for (const version of versions) expect(lock).toContain(`"version": "${version}"`);
  },
);

it("idpauth is sent through every race with one token request and without a failure", () => {
  const { idpauth } = results.peers;
  const races = Object.entries(idpauth?.situations ?? {}).filter(([key]) => key.startsWith("race"));
  expect(races).toHaveLength(9);
  for (const [key, result] of races)
    expect(result, key).toMatchObject({ refreshes: [1, 1, 1], isGood: true });
});

it("the page has a table for every situation, with the products that ran", () => {
  const page = peersPage(results);
  for (const { title } of results.situations) expect(page).toContain(`\n### ${title}\n`);
  expect(page).not.toContain("undefined");
  expect(page).not.toContain("NaN");
});

it("the figure says in words what it shows", () => {
  const figure = figures().find(({ name }) => name === "peers-race");
  for (const { title, situations } of Object.values(results.peers)) {
    const race = situations["race-200"];
    if (race === undefined || !("succeeded" in race)) continue;
    expect(figure?.description).toContain(`${title}: ${String(race.succeeded)} of 200`);
    for (const drawn of [figure?.wide.svg, figure?.narrow.svg]) expect(drawn).toContain(title);
  }
});

describe("what a package adds to a bare framework", () => {
  const folders: string[] = [];
  afterEach(() => {
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  /** A folder with these packages, each with a file of 100 bytes, besides its package-lock.json. */
  function installed(packages: Record<string, { dependencies?: Record<string, string> }>): string {
    const folder = mkdtempSync(path.join(tmpdir(), "idpauth-size-"));
    folders.push(folder);
    writeFileSync(path.join(folder, "package-lock.json"), JSON.stringify({ packages }));
    for (const place of Object.keys(packages)) {
      mkdirSync(path.join(folder, place), { recursive: true });
      writeFileSync(path.join(folder, place, "index.js"), "x".repeat(100));
    }
    return folder;
  }

  it("is the package with all that it needs, except what the framework needs too", () => {
    const folder = installed({
      "node_modules/framework": { dependencies: { shared: "1" } },
      "node_modules/shared": {},
      "node_modules/sign-in": { dependencies: { shared: "1", own: "1" } },
      "node_modules/own": {},
      "node_modules/other": {},
    });
    expect(addedPackages(folder, ["sign-in"], ["framework"])).toEqual({ packages: 2, bytes: 200 });
  });

  it("counts another version that is nested in a package", () => {
    const folder = installed({
      "node_modules/framework": { dependencies: { shared: "1" } },
      "node_modules/shared": {},
      "node_modules/sign-in": { dependencies: { shared: "2" } },
      "node_modules/sign-in/node_modules/shared": { dependencies: { deep: "1" } },
      "node_modules/deep": {},
    });
    expect(addedPackages(folder, ["sign-in"], ["framework"])).toEqual({ packages: 3, bytes: 300 });
  });
});
