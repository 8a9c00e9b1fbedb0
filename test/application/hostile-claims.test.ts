import { afterEach, describe, expect, it, vi } from "vitest";
import type { ClaimsSchema, IdpAuthOptions } from "../../src/index.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import { PATIENCE } from "../support/eventually.js";
import { settled } from "../../src/testing/settled.js";
import { application, sealing, startOver } from "../support/one-application.js";

const PROBE = "/idpauth/session";

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  // Each value goes through JSON, as it does outside of this process.
  await startOver(sealing, options);
  return application.user();
}

afterEach(() => application.stop());

const sessionOf = (user: TestUser) => application.auth.getSession(user.request("/"));
const isSignedIn = async (user: TestUser): Promise<unknown> =>
  ((await user.get(PROBE)).json() as { authenticated: unknown }).authenticated;

/** Puts claims into every ID token, as JSON text where JavaScript would not write them. */
function claimsAre(claims: Record<string, unknown>): void {
  application.provider.mutateIdToken = ({ claims: usual }) => ({
    claims: Object.assign(Object.create(null) as object, usual, claims),
  });
}

function schemaOf(validate: (value: unknown) => unknown): ClaimsSchema<{ groups: string[] }> {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: validate as ClaimsSchema<{ groups: string[] }>["~standard"]["validate"],
    },
  };
}

/** As zod and others: `groups` must be a list of strings. */
const GROUPS = schemaOf((value) => {
  const { groups = [] } = value as { groups?: unknown };
  const isValid = Array.isArray(groups) && groups.every((group) => typeof group === "string");
  return isValid
    ? { value: { groups } }
    : { issues: [{ message: `bad: ${JSON.stringify(groups).slice(0, 30)}`, path: ["groups"] }] };
});

/** A schema that gives back what it gets. */
const PASSES_ALL = schemaOf((value) => ({ value }));

const nested = (levels: number): unknown => (levels === 0 ? "deepest" : [nested(levels - 1)]);

describe("claims of wrong types", () => {
  const WRONG: readonly unknown[] = [
    "admin",
    7,
    true,
    { admin: true },
    [7],
    [null],
    [["admin"]],
    { length: 1, 0: "admin" },
    "",
    [{}],
  ];

  it.each(WRONG.map((groups) => [JSON.stringify(groups), groups] as const))(
    "groups as %s: 403, and no value in the log",
    async (_name, groups) => {
      const user = await start({ claims: GROUPS, onSignIn: () => expect.fail("the hook ran") });
      claimsAre({ groups });
      expect((await user.signIn()).status).toBe(403);
      expect(await isSignedIn(user)).toBe(false);
      expect(JSON.stringify(application.log)).not.toContain("bad:");
      expect(application.log.find(({ code }) => code === "claims_rejected")?.details).toEqual({
        paths: "groups",
      });
    },
  );

  it("no claim of a wrong type gets past a ready-made rule or breaks getSession", async () => {
    const user = await start();
    for (const value of [...WRONG, null]) {
      claimsAre({
        email: value,
        email_verified: value,
        name: value,
        picture: value,
        groups: value,
      });
      await user.signIn();
      const session = await sessionOf(user);
      expect(session?.user.id).toEqual(expect.any(String));
      expect([null, "admin", ""]).toContain(session?.user.email);
      expect([null, true]).toContain(session?.user.email_verified);
    }
  });
});

describe("large and odd claims", () => {
  it("a claim of 20 kB goes through the schema, the hook and the record", async () => {
    const long = "x".repeat(20_000);
    let seen: unknown;
    const user = await start({
      claims: PASSES_ALL,
      onSignIn({ claims }) {
        seen = (claims as Record<string, unknown>)["long"];
      },
    });
    claimsAre({ long });
    expect((await user.signIn()).status).toBe(302);
    expect([seen, (await sessionOf(user))?.claims["long"]]).toEqual([long, long]);
  });

  it("claims of more than a megabyte are refused before any code of the application runs", async () => {
    const user = await start({ claims: PASSES_ALL, onSignIn: () => expect.fail("the hook ran") });
    claimsAre({ long: "x".repeat(1_100_000) });
    expect([400, 503]).toContain((await user.signIn()).status);
    expect(await isSignedIn(user)).toBe(false);
  });

  it("a megabyte out of a schema that makes it is the application's own decision", async () => {
    const user = await start({
      claims: schemaOf(() => ({ value: { groups: ["x".repeat(1_000_000)] } })),
    });
    expect((await user.signIn()).status).toBe(302);
    expect((await sessionOf(user))?.claims["groups"]).toEqual(["x".repeat(1_000_000)]);
  });

  it("`__proto__` pollutes nothing: neither through the hook, nor through a schema that passes all", async () => {
    const evil = JSON.parse(
      '{"__proto__":{"isAdmin":true},"constructor":{"prototype":{"isAdmin":true}}}',
    ) as Record<string, unknown>;
    const options: Pick<IdpAuthOptions, "claims" | "onSignIn">[] = [
      { claims: PASSES_ALL },
      { onSignIn: ({ claims }) => ({ data: { ...claims } }) },
    ];
    for (const each of [{}, ...options]) {
      const user = await start(each);
      application.provider.mutateIdToken = ({ claims }) => {
        const all = { ...claims, constructor: evil.constructor };
        Object.defineProperty(all, "__proto__", {
          value: { isAdmin: true },
          enumerable: true,
          configurable: true,
          writable: true,
        });
        return { claims: all };
      };
      const response = await user.signIn();
      const session = await sessionOf(user);
      expect([response.status, session === null]).toEqual(
        Object.keys(each).length === 0 ? [302, false] : [503, true],
      );
      expect((session?.claims as { isAdmin?: unknown } | undefined)?.isAdmin).toBeUndefined();
      expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
      await application.stop();
    }
    await start();
  });

  it("claims and data of the deepest nesting that is accepted can be read again", async () => {
    const user = await start({ claims: PASSES_ALL, dataLimit: 4_096 });
    claimsAre({ deep: nested(63) });
    expect((await user.signIn()).status).toBe(302);
    expect((await sessionOf(user))?.claims["deep"]).toEqual(nested(63));
    await application.auth.updateData(user.request("/"), () => ({ deep: nested(63) }));
    expect((await application.auth.getSession(user.request("/")))?.data).toEqual({
      deep: nested(63),
    });
    await expect(
      application.auth.updateData(user.request("/"), () => ({ deep: nested(64) })),
    ).rejects.toThrow(/nested too deeply/);
    expect((await application.auth.getSession(user.request("/")))?.data).toEqual({
      deep: nested(63),
    });
  });
});

describe("a schema", () => {
  it("that never resolves: 503 after hookTimeout, no session, the tokens revoked", async () => {
    let isCalled = false;
    const user = await start({
      hookTimeout: 1,
      claims: schemaOf(() => {
        isCalled = true;
        return new Promise(() => undefined);
      }),
    });
    const page = user.signIn();
    await vi.waitFor(() => {
      expect(isCalled).toBe(true);
    }, PATIENCE);
    application.clock.advance(1_000);
    expect((await page).status).toBe(503);
    expect(await isSignedIn(user)).toBe(false);
    await settled(application.auth);
    expect(application.provider.requestsTo("revoke")).toHaveLength(1);
  });

  it("that never resolves at a refresh: 503, the session stays, and the next request tries again", async () => {
    let hangs = false;
    let isHanging = false;
    const user = await start({
      hookTimeout: 1,
      claims: schemaOf(() => {
        isHanging = hangs;
        return hangs ? new Promise(() => undefined) : { value: {} };
      }),
    });
    await user.signIn();
    hangs = true;
    application.clock.advance(3_601_000);
    const response = user.get(PROBE);
    await vi.waitFor(() => {
      expect(isHanging).toBe(true);
    }, PATIENCE);
    application.clock.advance(1_000);
    expect((await response).status).toBe(503);
    hangs = false;
    expect(await isSignedIn(user)).toBe(true);
    expect(application.provider.requestsTo("token", { grant_type: "refresh_token" })).toHaveLength(
      1,
    );
  });

  const BAD: readonly (readonly [string, unknown])[] = [
    ["nothing", undefined],
    ["null", null],
    ["a text", "accepted"],
    ["true", true],
    ["no value", {}],
    ["a value that is a list", { value: [] }],
    ["a value that is a text", { value: "admin" }],
    ["a value with a date", { value: { at: new Date(0) } }],
    ["a value with a function", { value: { can: () => true } }],
    [
      "a value with an accessor",
      { value: Object.defineProperty({}, "role", { get: () => "admin", enumerable: true }) },
    ],
    ["issues that are no list", { issues: true }],
    [
      "issues with a hostile path",
      { issues: [{ message: "m", path: [{ key: "a\nb" }, Symbol("s"), null, 7] }] },
    ],
  ];

  it.each(BAD)("that gives %s does not sign the user in", async (_name, result) => {
    const user = await start({ claims: schemaOf(() => result) });
    expect([403, 503]).toContain((await user.signIn()).status);
    expect(await isSignedIn(user)).toBe(false);
    expect(JSON.stringify(application.log)).not.toContain("\\n");
  });
});

describe("a hook that returns something else, as JavaScript lets it,", () => {
  it.each([
    [false],
    [true],
    ["denied"],
    [{}],
    [{ data: [] }],
    [{ data: "x" }],
    [{ data: null }],
    [7],
  ])("does not sign the user in: onSignIn gives %j", async (result) => {
    const user = await start({ onSignIn: () => result as never });
    expect((await user.signIn()).status).toBe(503);
    expect(await isSignedIn(user)).toBe(false);
  });

  it.each([
    [false],
    [true],
    ["denied"],
    [{ data: {} }],
    [() => false],
    [() => Promise.resolve({})],
  ])("does not let the user pass: onRefresh gives %j", async (result) => {
    const user = await start({ onRefresh: () => result as never });
    await user.signIn();
    application.clock.advance(3_601_000);
    expect((await user.get(PROBE)).status).toBe(503);
    expect(await application.auth.explainIdpAuthentication(user.request("/"))).toEqual({
      authenticated: false,
      reason: "review_due",
    });
  });
});
