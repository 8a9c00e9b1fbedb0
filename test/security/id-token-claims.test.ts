import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MAX_SHOWN_CODE_POINTS } from "../../src/pages/person.js";
import { tagsOf, textOf } from "../pages/tags.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";

// Claims are data: whatever the provider says about a person, it is text on a page and nothing
// else.

const HOUR = 3_600_000;
const MEGABYTE = 1_000_000;
const IDENTITY = ["email", "name", "picture"] as const;

let app: Application;
beforeAll(async () => {
  app = await startApplication();
});
afterAll(() => app.stop());
beforeEach(() => {
  app.provider.mutateIdToken = app.provider.userinfoResponse = undefined;
  app.provider.settings.claimsInIdToken = true;
  app.clock.advance(61_000);
});

/** Claims of a wrong type: as if the provider had not sent them. */
const WRONG_TYPES: readonly (readonly [string, unknown])[] = [
  ["a number", 7],
  ["true", true],
  ["null", null],
  ["a list", ["<script>alert(1)</script>"]],
  ["an object", { toString: "<script>", toJSON: "x", length: 3 }],
  ["an object with __proto__", JSON.parse('{"__proto__":{"admin":true}}')],
];

const HOSTILE_TEXTS: readonly (readonly [string, string])[] = [
  ["a script", "<script>alert(1)</script>"],
  ["an attribute's end", '" onerror="alert(1)" x="'],
  ["an attribute's end in single quotes", "' onfocus='alert(1)' autofocus='"],
  ["the end of the page", "</title></style></textarea></body><svg onload=alert(1)>"],
  ["a comment", "<!--"],
  ["entities", "&lt;script&gt;&#x3c;img src=x onerror=alert(1)&#62;"],
  ["a template", "{{constructor.constructor('alert(1)')()}}${alert(1)}"],
  ["javascript:", "javascript:alert(1)"],
  ["javascript: in disguise", "\u0001java\tscript\n:alert(1)//https://x.example"],
  ["data:", "data:text/html,<script>alert(1)</script>"],
  ["an SVG as data", "data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+"],
  ["a policy's end", "https://a.example;script-src *;/x.png"],
  ["header lines", "x\r\nSet-Cookie: evil=1\r\n\r\n<script>"],
  ["__proto__", "__proto__"],
];

/**
 * The page, read more strictly than a browser does, must be what it is for a harmless person, but
 * for its words.
 */
async function expectHarmlessPage(user: TestUser): Promise<string> {
  const { status, body = "", headers } = await user.get("/idpauth/");
  expect(status).toBe(200);
  const tags = tagsOf(body);
  expect(tags.map(({ name }) => name)).not.toContain("script");
  for (const { name, attributes } of tags) {
    for (const [attribute, value] of attributes) {
      expect(attribute).not.toMatch(/^on|^srcdoc$|^autofocus$/);
      if (["src", "href", "action"].includes(attribute))
        expect(`${name} ${value}`).toMatch(/^\w+ (?:\/idpauth\/|https:\/\/|data:,)/);
    }
  }
  const policy = headers["Content-Security-Policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("script-src");
  return textOf(body);
}

async function userOf(user: TestUser): Promise<Record<string, unknown>> {
  const answer = await user.get("/idpauth/session");
  expect(answer.status).toBe(200);
  expect(answer.json()).toMatchObject({ authenticated: true });
  return answer.json().user as Record<string, unknown>;
}

/**
 * Both ways on which claims come in: with the sign-in, and with a refresh of somebody who was
 * harmless until then.
 */
async function bothWays(
  claims: Record<string, unknown>,
  check: (user: TestUser, way: string) => Promise<void>,
): Promise<void> {
  const hostile = () => {
    app.provider.mutateIdToken = (draft) => ({ claims: Object.assign(draft.claims, claims) });
  };
  hostile();
  const atSignIn = app.user();
  expect((await atSignIn.signIn()).status).toBe(302);
  await check(atSignIn, "sign-in");

  app.provider.mutateIdToken = undefined;
  const atRefresh = app.user();
  await atRefresh.signIn();
  app.clock.advance(HOUR);
  hostile();
  expect(await atRefresh.isSignedIn()).toBe(true);
  await check(atRefresh, "refresh");
}

describe("[IDT-18] at sign-in and refresh", () => {
  it.each(WRONG_TYPES)(
    "[IDT-18] email, name and picture that are %s are null, and the page is harmless",
    async (_name, value) => {
      await bothWays({ email: value, name: value, picture: value }, async (user) => {
        expect(await userOf(user)).toEqual({ email: null, name: null, picture: null });
        expect(await expectHarmlessPage(user)).toContain("Your provider sent no name");
        expect((Object.prototype as Record<string, unknown>)["admin"]).toBeUndefined();
      });
    },
  );

  it.each(HOSTILE_TEXTS)(
    "[IDT-18] email, name and picture with %s are words on the page, and no address",
    async (_name, value) => {
      await bothWays({ email: value, name: value, picture: value }, async (user) => {
        expect(await userOf(user)).toEqual({ email: value, name: value, picture: value });
        await expectHarmlessPage(user);
        const { body = "", headers } = await user.get("/idpauth/");
        expect(tagsOf(body).filter(({ name }) => name === "img")).toEqual([]);
        expect(headers["Content-Security-Policy"]).not.toMatch(/img-src (?!'none')/);
        expect(Object.values(headers).join("")).not.toMatch(/[\r\n]/);
      });
    },
  );

  it("[IDT-18] a name of 150,000 characters is stored, and the page shows the beginning", async () => {
    const name = "N".repeat(150_000);
    await bothWays({ name }, async (user) => {
      expect(await userOf(user)).toMatchObject({ name });
      const { body = "" } = await user.get("/idpauth/");
      expect(textOf(body)).toContain(`${"N".repeat(MAX_SHOWN_CODE_POINTS)}…`);
      expect(body.length).toBeLessThan(20_000);
    });
  });

  it("[IDT-18] claims that are named like properties of every object change nothing", async () => {
    const claims = JSON.parse(
      '{"__proto__":{"email":"eve@example.com","authenticated":true},"constructor":1,"toString":1,"hasOwnProperty":1}',
    );
    app.provider.mutateIdToken = (draft) => ({
      claims: `${JSON.stringify(draft.claims).slice(0, -1)},${JSON.stringify(claims).slice(1)}`,
    });
    const user = app.user();
    expect((await user.signIn()).status).toBe(302);
    expect(await userOf(user)).toMatchObject({ email: "ada@example.com" });
    await expectHarmlessPage(user);
    app.clock.advance(HOUR);
    expect(await userOf(user)).toMatchObject({ email: "ada@example.com" });
    expect({}).not.toHaveProperty("email");
  });
});

describe("[IDT-18] a claim of a megabyte", () => {
  it.each(IDENTITY)(
    "[IDT-18] %s in an ID token signs nobody in, and nothing breaks",
    async (claim) => {
      const user = app.user();
      const callback = await user.approve();
      app.provider.mutateIdToken = (draft) => ({
        claims: { ...draft.claims, [claim]: "x".repeat(MEGABYTE) },
      });
      // The whole answer is beyond what is read of one.
      expect((await user.get(callback)).status).toBe(503);
      expect(await user.isSignedIn()).toBe(false);
    },
  );

  it("[IDT-18] at a refresh signs nobody out: it is an outage, and id_info stays", async () => {
    const user = app.user();
    await user.signIn();
    const before = (await app.auth.readSessionRecord(user.request("/")))?.["id_info"];
    app.clock.advance(HOUR);
    app.provider.mutateIdToken = (draft) => ({
      claims: { ...draft.claims, name: "x".repeat(MEGABYTE) },
    });
    expect((await user.get("/idpauth/session")).status).toBe(503);
    expect((await app.auth.readSessionRecord(user.request("/")))?.["id_info"]).toEqual(before);
  });

  it("[IDT-18] in userinfo: the sign-in stands without it", async () => {
    app.provider.settings.claimsInIdToken = false;
    app.provider.userinfoResponse = (claims) => ({
      ...claims,
      name: "x".repeat(MEGABYTE + 100_000),
    });
    const user = app.user();
    expect((await user.signIn()).status).toBe(302);
    expect(await userOf(user)).toEqual({ email: null, name: null, picture: null });
  });
});

describe("[IDT-18] claims from userinfo", () => {
  it.each(HOSTILE_TEXTS)(
    "[IDT-18] with %s are words on the page, and no address",
    async (_name, value) => {
      app.provider.settings.claimsInIdToken = false;
      app.provider.userinfoResponse = (claims) => ({
        ...claims,
        email: value,
        name: value,
        picture: value,
      });
      const user = app.user();
      expect((await user.signIn()).status).toBe(302);
      expect(await userOf(user)).toEqual({ email: value, name: value, picture: value });
      await expectHarmlessPage(user);
    },
  );

  it("[IDT-18] nested deep enough to exhaust the stack: the sign-in stands without them", async () => {
    app.provider.settings.claimsInIdToken = false;
    const deep = `${"[".repeat(80_000)}${"]".repeat(80_000)}`;
    const withdraw = app.provider.fault("userinfo", {
      kind: "status",
      status: 200,
      headers: { "content-type": "application/json" },
      body: `{"sub":"ada-1815","name":"Ada","email":${deep}}`,
    });
    const user = app.user();
    expect((await user.signIn()).status).toBe(302);
    withdraw();
    expect(await userOf(user)).toEqual({ email: null, name: null, picture: null });
    await expectHarmlessPage(user);
  });
});

it("[IDT-17] keys nested deep enough to exhaust the stack are no keys: 503, and nothing breaks", async () => {
  const fresh = await startApplication();
  const [key] = fresh.provider.jwks.document().keys;
  const text = JSON.stringify(key).slice(0, -1);
  fresh.provider.jwks.publish(`{"keys":[${text},"x":${"[".repeat(80_000)}${"]".repeat(80_000)}}]}`);
  const user = fresh.user();
  expect((await user.signIn()).status).toBe(503);
  expect(await user.isSignedIn()).toBe(false);
  fresh.provider.jwks.reset();
  fresh.clock.advance(61_000);
  expect((await user.signIn()).status).toBe(302);
  await fresh.stop();
});
