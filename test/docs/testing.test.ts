import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import express from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as expressHost from "../../src/adapters/express/express.js";
import type { IdpAuthOptions } from "../../src/index.js";
import * as kit from "../../src/testing/index.js";
import { ENDPOINTS } from "../../src/testing/provider/received-requests.js";

const DOCS = path.resolve(import.meta.dirname, "../../docs/how-to");
const page = readFileSync(path.join(DOCS, "testing.md"), "utf8");

/** Each block of JavaScript, under the title that it stands below. */
const blocks = page.split(/^## /m).flatMap((section) => {
  const [title = ""] = section.split("\n");
  return [...section.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = ""], at) => ({ name: `${title} (${at + 1})`, code }));
});

const MODULES: Readonly<Record<string, object>> = { express: { default: express }, "idpauth/express": expressHost, "idpauth/testing": kit };

/** Runs a block as a module. Its imports become what is loaded here already; the other names are the kit's, or given. */
async function execute(code: string, given: Readonly<Record<string, unknown>>): Promise<void> {
  const body = code
    .replace(/^import (\w+) from "(.+)";$/gm, 'const { default: $1 } = modules["$2"];')
    .replace(/^import (\{.+\}) from "(.+)";$/gm, 'const $1 = modules["$2"];');
  const names = { ...kit, ...given, expect, modules: MODULES };
  // Parameters outside, so that a block may declare a name that is given.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval -- the page is the project's own
  const run = new Function(...Object.keys(names), `return (async () => { ${body} })();`) as (...values: unknown[]) => Promise<void>;
  await run(...Object.values(names));
}

function createApp(options: IdpAuthOptions) {
  const app = express();
  const auth = expressHost.idpAuth({ ...options, log: false });
  auth.mount(app);
  app.get("/reports", auth.idpRequired, async (req, res) => res.json(await auth.getUser(req)));
  return { app, auth };
}

describe("docs/how-to/testing.md", () => {
  let provider: kit.TestProvider;
  beforeEach(async () => {
    provider = await kit.startTestProvider();
  });
  afterEach(async () => {
    await provider.stop();
  });

  it("has code in each place where there is something to show", () => {
    expect(blocks.map(({ name }) => name)).toEqual([
      "Quick start (1)",
      "Users (1)",
      "Users (2)",
      "Users (3)",
      "Users (4)",
      "The signed-in user (1)",
      "The signed-in user (2)",
      "Tenants (1)",
      "Faults (1)",
      "Faults (2)",
      "Time (1)",
      "What is recorded (1)",
      "Forged responses (1)",
    ]);
  });

  it.each(blocks)("$name: runs, and what it expects is so", async ({ code }) => {
    const { app, auth } = createApp({ env: provider.env, clock: provider.clock });
    const user = await kit.signIn(app);
    const before = expect.getState().assertionCalls;
    await execute(code, { provider, app, auth, user, createApp });
    expect(expect.getState().assertionCalls).toBeGreaterThan(before);
  });

  it("names every kind of fault and every endpoint", () => {
    const kinds = [...page.matchAll(/^\| `([\w-]+)` \| .* \| .*\|$/gm)].map(([, kind]) => kind).sort();
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
    for (const endpoint of ENDPOINTS) expect(page).toContain(`\`${endpoint}\``);
  });

  it("names every setting of the provider", () => {
    for (const name of Object.keys(provider.settings)) expect(page).toContain(`\`${name}\``);
  });

  it("links to what is there", () => {
    const targets = [...page.matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, target = ""]) => target.split("#") as [string, string?]);
    for (const [file, anchor] of targets) {
      expect(existsSync(path.join(DOCS, file)), file).toBe(true);
      if (anchor === undefined) continue;
      const titles = [...readFileSync(path.join(DOCS, file), "utf8").matchAll(/^##+ (.+)$/gm)].map(([, title = ""]) => title);
      expect(titles.map((title) => title.toLowerCase().replaceAll(" ", "-"))).toContain(anchor);
    }
  });
});
