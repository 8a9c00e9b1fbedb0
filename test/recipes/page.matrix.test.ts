import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { lockedVersion } from "../../scripts/locked-packages.mjs";
import { blocksOf, folderOf, sectionOf } from "./recipe.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGE = readFileSync(path.join(ROOT, "docs/how-to/fetch-frameworks.md"), "utf8");

/** Each recipe's heading and the folder of its application. */
const RECIPES = {
  SvelteKit: "sveltekit",
  "React Router": "react-router",
  Astro: "astro",
  "Nitro 3": "nitro3",
  "h3 2": "h3-2",
  "Nitro 2": "nitro2",
  "h3 1": "h3-1",
  "Bun.serve": "bun",
  "Deno.serve": "deno",
} as const;

it("docs/how-to/fetch-frameworks.md has the recipes that are tested, and no other", () => {
  const headings = [...PAGE.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings.slice(1)).toEqual(Object.keys(RECIPES));
  const tests = readdirSync(import.meta.dirname).filter((file) => file.endsWith(".test.ts"));
  const texts = tests
    .map((file) => readFileSync(path.join(import.meta.dirname, file), "utf8"))
    .join("\n");
  expect(
    Object.keys(RECIPES).filter((heading) => !texts.includes(`section: "${heading}"`)),
  ).toEqual([]);
});

it("every code block of docs/how-to/fetch-frameworks.md names its file, and is part of a recipe or of what all recipes share", () => {
  const inRecipes = ["Guard by the route", ...Object.keys(RECIPES)].map(
    (heading) => blocksOf(sectionOf(heading)).size,
  );
  expect(inRecipes.reduce((sum, size) => sum + size)).toBe(PAGE.match(/^```\w+$/gm)?.length);
});

it.each(Object.entries(RECIPES))(
  "the recipe of %s names the versions that it is tested with",
  (heading, folder) => {
    const [, sentence = ""] =
      /^Tested with (.*?)\./m.exec(sectionOf(heading).replaceAll(/(\d)\.(?=\d)/g, "$1_")) ?? [];
    const named = [...sentence.replaceAll("_", ".").matchAll(/`([^`]+)` ([\d.]+\d)/g)].map(
      ([, name = "", version]) => [name, version],
    );
    const { dependencies } = JSON.parse(
      readFileSync(path.join(import.meta.dirname, folder, "package.json"), "utf8"),
    ) as {
      dependencies: Record<string, string>;
    };
    expect(named.length).toBeGreaterThan(0);
    expect(named).toEqual(
      named.map(([name = ""]) => [name, lockedVersion(folderOf(folder), name)]),
    );
    expect(dependencies).toMatchObject(Object.fromEntries(named) as object);
  },
);

it("docs/how-to/mounting.md names the frameworks that have a recipe, and no other", () => {
  const text = readFileSync(path.join(ROOT, "docs/how-to/mounting.md"), "utf8");
  expect(text).toContain("SvelteKit, React Router, Astro, Nitro, h3, Bun.serve");
  expect(text).not.toMatch(/Nuxt|SolidStart|TanStack|Qwik|Fresh/);
});
