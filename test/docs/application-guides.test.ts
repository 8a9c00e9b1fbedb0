import { readFileSync } from "node:fs";
import path from "node:path";
import express, { type Express, type RequestHandler } from "express";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as expressEntry from "../../src/adapters/express/express.js";
import * as main from "../../src/index.js";
import * as kit from "../../src/testing/index.js";

// The samples of the tutorial and of the pages about providers, each run as it stands there.

const DOCS = path.resolve(import.meta.dirname, "../../docs");
const ADA = {
  email: "ada@example.com",
  email_verified: true,
  name: "Ada Lovelace",
  groups: ["admin", "staff"],
};
const GRACE = { email: "grace@example.com", email_verified: true, groups: ["staff"] };
const ZITADEL_ROLES = "urn:zitadel:iam:org:project:roles";

let provider: kit.TestProvider;
let app: Express;
let user: kit.TestBrowser;

beforeEach(async () => {
  provider = await kit.startTestProvider({ person: GRACE });
});

afterEach(async () => {
  await user.close();
  await provider.stop();
});

const createAuth = (options: main.IdpAuthOptions = {}) =>
  expressEntry.idpAuth({
    env: provider.env,
    clock: provider.clock,
    log: false,
    clientData: ({ data }) => data,
    ...options,
  });

/** Express, except that the test opens the port. */
function createApp(): Express {
  app = express();
  app.listen = (() => undefined) as unknown as Express["listen"];
  return app;
}

interface Sample {
  /** Options of the `auth` that the sample does not create itself. */
  readonly options?: main.IdpAuthOptions;
  readonly given?: Readonly<Record<string, unknown>>;
  /** Which sample below the title. */
  readonly at?: number;
}

/** Runs a sample of a page, and opens a browser at its application. */
async function run(
  page: string,
  title: string,
  { options = {}, given = {}, at = 0 }: Sample = {},
): Promise<void> {
  const section =
    readFileSync(path.join(DOCS, page), "utf8")
      .split(/^#{1,3} /m)
      .find((each) => each.startsWith(`${title}\n`)) ?? "";
  const code = [...section.matchAll(/^```[jt]s\n(.*?)^```$/gms)][at]?.[1];
  if (code === undefined) throw new Error(`${page} has no sample ${String(at)} below "${title}"`);
  const modules: Readonly<Record<string, object>> = {
    express: { default: createApp },
    idpauth: main,
    "idpauth/express": { idpAuth: createAuth },
    "idpauth/testing": kit,
    "./users.mjs": { users: given["users"] },
    zod: { z: given["z"] },
  };
  const body = code
    .replace(/^import (\w+) from "(.+)";.*$/gm, 'const { default: $1 } = modules["$2"];')
    .replace(/^import (\{.+\}) from "(.+)";.*$/gm, 'const $1 = modules["$2"];');
  if (!code.includes("express()")) createApp();
  const auth = createAuth(options);
  if (!code.includes("idpAuth(")) auth.mount(app);
  const handler: RequestHandler = (_request, response) => void response.send("passed");
  const names: Readonly<Record<string, unknown>> = {
    idpAuth: createAuth,
    app,
    auth,
    handler,
    ...given,
    modules,
  };
  // Parameters outside, so that a sample may declare a name that is given.

  await new Function(...Object.keys(names), `return (async () => { ${body} })();`)(
    ...Object.values(names),
  );
  user = await kit.browser(app);
}

describe("docs/tutorial/staff-only.md", () => {
  const text = readFileSync(path.join(DOCS, "tutorial/staff-only.md"), "utf8");
  const [application = "", table = ""] = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(
    ([, code = ""]) => code,
  );

  beforeEach(async () => {
    const users: unknown = new Function(
      `${table.replace("export const users", "const users")} return users;`,
    )();
    await run("tutorial/staff-only.md", "An application for your staff", { given: { users } });
  });

  it("has at most 25 lines without the texts of the pages, and no cast", () => {
    const lines = application
      .split("\n")
      .filter((line) => line.trim() !== "" && !/^\s*res\.send\("/.test(line));
    expect(lines.length).toBeLessThanOrEqual(25);
    expect(application).not.toMatch(/@type|\bas\b/);
  });

  it.each([
    ["an address that is not verified", { ...GRACE, email_verified: false }],
    ["another domain", { ...GRACE, email: "grace@example.org" }],
  ])("refuses %s", async (_what, person) => {
    provider.person = person;
    const page = await user.follow("/groups");
    expect([page.status, page.text.includes("Only staff may sign in.")]).toEqual([403, true]);
    expect((await user.get("/groups")).status).toBe(401);
  });

  it("gives each user an id and shows the groups; only administrators see their page", async () => {
    expect((await user.follow("/groups")).json()).toEqual({ userId: 1, groups: ["staff"] });
    expect((await user.navigate("/admin")).status).toBe(403);
    provider.person = ADA;
    expect((await user.follow("/idpauth/login/")).status).toBe(200);
    expect((await user.get("/groups")).json()).toEqual({ userId: 2, groups: ["admin", "staff"] });
    expect((await user.navigate("/admin")).text).toBe("For administrators only.");
  });

  it("requires a recent sign-in for a transfer, after which the user has the same id", async () => {
    await user.follow("/groups");
    expect((await user.get("/transfer")).text).toBe("You have just signed in.");
    provider.clock.advance(360_000);
    expect((await user.get("/transfer")).status).toBe(401);
    expect((await user.follow("/transfer")).text).toBe("You have just signed in.");
    expect(provider.requestsTo("authorize").at(-1)?.query.get("max_age")).toBe("300");
    expect((await user.get("/groups")).json()).toMatchObject({ userId: 1 });
  });
});

describe("docs/providers", () => {
  it.each([
    ["entra-id", "/payout", 'acr_values="C1"'],
    ["keycloak", "/payout", 'acr_values="gold"'],
    ["okta", "/payout", 'acr_values="urn:okta:loa:2fa:any"'],
    ["auth0", "/transfer", 'max_age="300"'],
    ["cognito", "/transfer", 'max_age="300"'],
  ])("%s.md: the step-up requires what the page describes", async (name, path, challenge) => {
    await run(`providers/${name}.md`, "Step-up");
    await user.follow("/idpauth/login/");
    provider.clock.advance(660_000);
    const response = await user.get(path, { method: "POST" });
    expect([response.status, response.headers["www-authenticate"]]).toEqual([
      401,
      expect.stringContaining(challenge),
    ]);
  });

  it.each([
    ["google", "Groups and domains", "/reports", { hd: "example.com" }, { hd: "example.org" }],
    [
      "auth0",
      "Groups and roles",
      "/admin",
      { "https://example.com/groups": ["admin"] },
      { groups: ["admin"] },
    ],
    ["okta", "Groups", "/admin", { groups: ["staff", "admin"] }, { groups: ["staff"] }],
    ["cognito", "Groups", "/admin", { "cognito:groups": ["admin"] }, { groups: ["admin"] }],
    [
      "self-hosted",
      "Zitadel",
      "/admin",
      { [ZITADEL_ROLES]: { admin: { 1: "example.com" } } },
      { [ZITADEL_ROLES]: { staff: {} } },
    ],
    ["self-hosted", "Zitadel", "/admin", { [ZITADEL_ROLES]: [{ staff: {} }, { admin: {} }] }, {}],
  ])(
    "%s.md, %s: the guard of %s allows only the users that the page describes",
    async (name, title, path, allowed, denied) => {
      await run(`providers/${name}.md`, title);
      for (const [claims, status] of [
        [denied, 403],
        [allowed, 200],
      ] as const) {
        provider.person = { email: "grace@example.com", ...claims };
        await user.follow("/idpauth/login/");
        expect((await user.get(path)).status).toBe(status);
      }
    },
  );
});
