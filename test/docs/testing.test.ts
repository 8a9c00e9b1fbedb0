import { readFileSync } from "node:fs";
import path from "node:path";
import express from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as expressHost from "../../src/adapters/express/express.js";
import { hasClaim, type IdpAuthOptions } from "../../src/index.js";
import * as suites from "../../packages/idpauth-conformance/src/index.js";
import * as kit from "../../src/testing/index.js";
import { ENDPOINTS } from "../../src/testing/provider/received-requests.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const PAGES = ["docs/how-to/testing.md", "docs/reference/testing.md"].map((file) => ({
  file,
  text: readFileSync(path.join(ROOT, file), "utf8"),
}));
const [guide, reference] = PAGES.map(({ text }) => text) as [string, string];

/** A file of an example, after a line with its name. That example's test runs it. */
const FILE = /^`([\w.-]+\.mjs)`:\n\n```js\n(.*?)^```$/gms;

/** A part of a file of docs/snippets, which test/docs/snippets.test.ts runs. */
const SNIPPET = /^<!-- snippet: [^\n]* -->\n\n```js\n.*?^```$/gms;

/** Each other block of JavaScript, under the title that it stands below. */
const blocks = PAGES.flatMap(({ file, text }) =>
  text
    .replace(FILE, "")
    .replace(SNIPPET, "")
    .split(/^## /m)
    .flatMap((section) => {
      const [title = ""] = section.split("\n");
      return [...section.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""], at) => ({
        name: `${file}, ${title} (${at + 1})`,
        code,
      }));
    }),
);

const MODULES: Readonly<Record<string, object>> = {
  express: { default: express },
  "idpauth/express": expressHost,
  "idpauth/testing": kit,
};

/**
 * Runs a block as a module. Its imports become what is loaded here already; the other names are the
 * kit's, or given.
 */
async function execute(code: string, given: Readonly<Record<string, unknown>>): Promise<void> {
  const body = code
    .replace(/^import (\w+) from "(.+)";$/gm, 'const { default: $1 } = modules["$2"];')
    .replace(/^import (\{.+\}) from "(.+)";$/gm, 'const $1 = modules["$2"];');
  const names = { ...kit, hasClaim, ...given, expect, modules: MODULES };
  // Parameters outside, so that a block may declare a name that is given.

  const run = new Function(...Object.keys(names), `return (async () => { ${body} })();`) as (
    ...values: unknown[]
  ) => Promise<void>;
  await run(...Object.values(names));
}

function createApp(options: IdpAuthOptions) {
  const app = express();
  const auth = expressHost.idpAuth({ ...options, log: false });
  auth.mount(app);
  app.get("/reports", auth.idpRequired, async (req, res) =>
    res.json((await auth.requireSession(req)).user),
  );
  return { app, auth };
}

describe("the pages about testing", () => {
  let provider: kit.TestProvider;
  beforeEach(async () => {
    provider = await kit.startTestProvider();
  });
  afterEach(async () => {
    await provider.stop();
  });

  it("has code in each place where there is something to show", () => {
    expect(blocks.map(({ name }) => name)).toEqual([
      "docs/how-to/testing.md, Sign in without a provider (1)",
      "docs/how-to/testing.md, Test with a certificate (1)",
      "docs/how-to/testing.md, Test that a request is rejected (1)",
      "docs/how-to/testing.md, Simulate an outage (1)",
      "docs/how-to/testing.md, Simulate an outage (2)",
      "docs/how-to/testing.md, Move the clock (1)",
      "docs/reference/testing.md, Users at the provider (1)",
      "docs/reference/testing.md, Sign users in (1)",
      "docs/reference/testing.md, Sign users in (2)",
      "docs/reference/testing.md, Hooks (1)",
      "docs/reference/testing.md, Records (1)",
    ]);
  });

  it("the guide's files for Playwright and Cypress are the examples', which test/examples/testing.matrix.test.ts runs", () => {
    const files = [...guide.matchAll(FILE)].map(([, file = "", code = ""]) => ({ file, code }));
    const examples = ["playwright/reports.spec.mjs", "cypress/cypress.config.mjs"];
    expect(files.map(({ file }) => file)).toEqual(examples.map((file) => path.basename(file)));
    for (const [at, example] of examples.entries()) {
      const text = readFileSync(path.join(ROOT, "examples/testing", example), "utf8");
      expect(files[at]?.code).toBe(text.replace("// @ts-check\n", ""));
    }
  });

  it.each(blocks)("$name: runs, and what it expects is so", async ({ code }) => {
    const { app, auth } = createApp({ env: provider.env, clock: provider.clock });
    const user = await kit.signIn(app);
    const before = expect.getState().assertionCalls;
    await execute(code, { provider, app, auth, user, createApp });
    expect(expect.getState().assertionCalls).toBeGreaterThan(before);
  });

  it("names every kind of fault and every endpoint", () => {
    const kinds = [...reference.matchAll(/^\| `([\w-]+)` \| .* \| .*\|$/gm)]
      .map(([, kind]) => kind)
      .sort();
    // As a record, so that the compiler knows when one is missing here.
    const all: Record<kit.Fault["kind"], true> = {
      status: true,
      hang: true,
      reset: true,
      delay: true,
      garbage: true,
      "wrong-type": true,
      truncated: true,
      oversized: true,
      redirect: true,
      drip: true,
    };
    expect(kinds.filter((kind = "") => Object.hasOwn(all, kind))).toEqual(Object.keys(all).sort());
    for (const endpoint of ENDPOINTS) expect(reference).toContain(`\`${endpoint}\``);
  });

  it("names every setting of the provider", () => {
    for (const name of Object.keys(provider.settings)) expect(reference).toContain(`\`${name}\``);
  });

  it("names every function and class", () => {
    const names = Object.keys({ ...kit, ...suites });
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(reference))).toEqual([]);
  });
});
