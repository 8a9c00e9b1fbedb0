import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readEvidence } from "../../scripts/evidence/files.mjs";
import { LEASE_MS, LOOK_AGAIN_MS } from "../../src/access/refresh-limits.js";

// What the first pages say in their own words, against the results and the code.

interface Outcome {
  readonly succeeded: number;
  readonly refreshes: readonly number[];
  readonly isSignedIn: boolean;
}

interface Peer {
  readonly title: string;
  readonly situations: Readonly<Record<string, Outcome>>;
}

const NUMBERS = ["none", "one", "two", "three", "four", "five", "six", "seven", "eight"];

const read = (file: string) =>
  readFileSync(new URL(`../../${file}`, import.meta.url), "utf8").replace(/\s+/g, " ");

const section = (file: string, title: string) =>
  readFileSync(new URL(`../../${file}`, import.meta.url), "utf8")
    .split(/^## /m)
    .find((text) => text.startsWith(`${title}\n`));

const rowsOf = (text: string | undefined, start: string) =>
  text?.split("\n").filter((line) => line.startsWith(start));

describe("README.md and docs/index.md", () => {
  it.each([
    ["When something breaks", "|"],
    ["Not for you if", "-"],
  ])("have the same rows in %j", (title, start) => {
    const rows = rowsOf(section("README.md", title), start);
    expect(rows?.length).toBeGreaterThan(5);
    expect(rowsOf(section("docs/index.md", title), start)).toEqual(rows);
  });

  it.each(["README.md", "docs/index.md", "docs/explanation/failures.md"])(
    "%s names the time after which another process takes over",
    (file) => {
      // A look at the lease may come half an interval late.
      const seconds = Math.ceil((LEASE_MS + 1.5 * LOOK_AGAIN_MS.longest) / 1000);
      expect(read(file)).toContain(`at most ${seconds} s`);
    },
  );
});

describe("README.md says of the other products what was measured", () => {
  const readme = read("README.md");
  const peers: readonly Peer[] = Object.values(
    (readEvidence("peers") as { peers: Readonly<Record<string, Peer>> }).peers,
  );
  const outcomes = (situation: string) =>
    peers.map(({ title, situations }) => ({ title, ...situations[situation] }) as Outcome & Peer);
  const winners = (situation: string) =>
    outcomes(situation)
      .filter(({ succeeded }) => succeeded === 200)
      .map(({ title }) => title);

  it("with how many it was, and how often", () => {
    expect(readme).toContain(`idpauth and ${NUMBERS[peers.length - 1]} others`);
    for (const { title, refreshes } of outcomes("race-200"))
      expect(refreshes, title).toHaveLength(3);
    expect(readme).toContain("In each of three runs");
  });

  it("with which of them all requests succeeded, in one process and across two", () => {
    const inTwo = winners("race-200-two");
    const onlyInOne = winners("race-200").filter((title) => !inTwo.includes(title));
    expect(readme).toContain(
      `**All 200 requests succeeded** with ${inTwo.join(" and ")}, in one process and across two, and with ${onlyInOne.join(" and ")} in one process.`,
    );
  });

  it("with which of them none succeeded, and that their users had to sign in again", () => {
    const others = outcomes("race-200").filter(({ succeeded }) => succeeded !== 200);
    for (const { title, ...outcome } of others)
      expect(outcome, title).toMatchObject({ succeeded: 0, isSignedIn: false });
    const names = others.map(({ title }) => title.replace(" on Express", ""));
    expect(readme).toContain(
      `**None succeeded** in the worst run of ${names.slice(0, -1).join(", ")} and ${names.at(-1)!}, and the user had to sign in again.`,
    );
  });

  it("that all requests succeeded without rotation", () => {
    for (const situation of ["race-200-without-rotation", "race-200-without-rotation-two"])
      expect(winners(situation)).toHaveLength(peers.length);
    expect(readme).toContain(`all 200 succeeded with all ${NUMBERS[peers.length]} products`);
  });
});
