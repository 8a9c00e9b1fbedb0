import { decodeJwt } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import {
  startTestProvider,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";

const REDIRECT_URI = "http://127.0.0.1:1/callback";
const GRACE = { sub: "grace", email: "grace@example.com" };

let provider: TestProvider;
let clock: TestClock;

async function start(options: TestProviderOptions = {}): Promise<void> {
  clock = new TestClock();
  provider = await startTestProvider({ clock, pkce: "ignored", ...options });
}

afterEach(async () => {
  await provider.stop();
});

const now = () => Math.floor(clock.now() / 1000);

/** The parameters of the response to an authorization request. */
async function ask(
  parameters: Readonly<Record<string, string>> = {},
  person?: Record<string, unknown>,
): Promise<URLSearchParams> {
  const fixed = {
    client_id: provider.clientId,
    redirect_uri: REDIRECT_URI,
    response_type: "code",
    scope: "openid",
  };
  const url = `${provider.issuer}/authorize?${new URLSearchParams({ ...fixed, ...parameters }).toString()}`;
  return new URL(await provider.signInCode(url, person)).searchParams;
}

async function tokens(
  parameters: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const { clientId, clientSecret } = provider;
  const body = new URLSearchParams({
    client_id: clientId,
    client_secret: clientSecret,
    ...parameters,
  });
  return (await fetch(`${provider.issuer}/token`, { method: "POST", body })).json() as Promise<
    Record<string, string>
  >;
}

async function signIn(
  parameters: Readonly<Record<string, string>> = {},
  person?: Record<string, unknown>,
) {
  const code = (await ask(parameters, person)).get("code") ?? "";
  return tokens({ grant_type: "authorization_code", redirect_uri: REDIRECT_URI, code });
}

const claimsOf = ({ id_token = "" }: Record<string, string>) =>
  decodeJwt<Record<string, unknown>>(id_token);
const errorOf = async (...request: Parameters<typeof ask>) => (await ask(...request)).get("error");

describe("the claims about the authentication", () => {
  it("are absent unless the request requests them", async () => {
    await start();
    const claims = claimsOf(await signIn());
    expect(["auth_time", "acr", "acrs"].filter((name) => name in claims)).toEqual([]);
  });

  it("auth_time comes with max_age, and is the time of the sign-in at the provider", async () => {
    await start();
    const first = now();
    expect(claimsOf(await signIn({ max_age: "300" }))).toMatchObject({ auth_time: first });
    clock.advance(300_000);
    expect(claimsOf(await signIn({ max_age: "300" }))).toMatchObject({ auth_time: first });
    clock.advance(1_000);
    expect(claimsOf(await signIn({ max_age: "300" }))).toMatchObject({ auth_time: first + 301 });
    expect(provider.signedIn).toEqual(new Map([["ada-1815", first + 301]]));
  });

  it.each([{ prompt: "login", max_age: "300" }, { max_age: "0" }])(
    "%o makes the user sign in again",
    async (parameters) => {
      await start();
      await signIn();
      clock.advance(1_000);
      expect(claimsOf(await signIn(parameters))).toMatchObject({ auth_time: now() });
    },
  );

  it("each user has an own time", async () => {
    await start();
    const first = now();
    await signIn();
    clock.advance(60_000);
    expect(claimsOf(await signIn({ max_age: "300" }, GRACE))).toMatchObject({
      auth_time: first + 60,
    });
    expect(claimsOf(await signIn({ max_age: "300" }))).toMatchObject({ auth_time: first });
  });

  it.each([
    ["the first value asked for", { acr_values: "gold silver" }, { acr: "gold" }],
    [
      "a value of the parameter claims",
      { claims: '{"id_token":{"acr":{"essential":true,"values":["gold"]}}}' },
      { acr: "gold" },
    ],
    [
      "Entra ID's acrs",
      { claims: '{"id_token":{"acrs":{"essential":true,"value":"c1"}}}' },
      { acrs: ["c1"] },
    ],
  ])("acr: %s", async (_name, parameters, expected) => {
    await start();
    expect(claimsOf(await signIn(parameters))).toMatchObject(expected);
  });

  it.each(["{", "null", "[]", '{"id_token":null}', '{"id_token":{"acr":7,"acrs":null}}'])(
    "a claims parameter %s requests nothing",
    async (claims) => {
      await start();
      expect(claimsOf(await signIn({ claims }))).not.toHaveProperty("acr");
    },
  );

  it("acr is a supported value, or absent", async () => {
    await start({ acrValues: ["silver"] });
    expect(claimsOf(await signIn({ acr_values: "gold silver" }))).toMatchObject({ acr: "silver" });
    expect(claimsOf(await signIn({ acr_values: "gold" }))).not.toHaveProperty("acr");
    const document = (await (
      await fetch(`${provider.issuer}/.well-known/openid-configuration`)
    ).json()) as Record<string, unknown>;
    expect(document["acr_values_supported"]).toEqual(["silver"]);
  });

  it("claims of the user win, for a provider that responds with another value", async () => {
    await start();
    const claims = claimsOf(
      await signIn(
        { max_age: "300", acr_values: "gold" },
        { ...GRACE, auth_time: 5, acr: "bronze" },
      ),
    );
    expect(claims).toMatchObject({ auth_time: 5, acr: "bronze" });
  });

  it("stay the same in a refreshed ID token", async () => {
    await start();
    const first = await signIn({ max_age: "300", acr_values: "gold" });
    clock.advance(60_000);
    await signIn({ prompt: "login" });
    const refreshed = await tokens({
      grant_type: "refresh_token",
      refresh_token: first["refresh_token"] ?? "",
    });
    const { auth_time, acr } = claimsOf(first);
    expect(claimsOf(refreshed)).toMatchObject({ auth_time, acr });
  });

  it("are absent at a provider that ignores the parameters, and the sign-in stays the old one", async () => {
    await start({ stepUp: "ignored" });
    const first = now();
    await signIn();
    clock.advance(60_000);
    const claims = claimsOf(await signIn({ max_age: "0", acr_values: "gold", prompt: "login" }));
    expect(["auth_time", "acr"].filter((name) => name in claims)).toEqual([]);
    expect(provider.signedIn.get("ada-1815")).toBe(first);
  });
});

describe("prompt=none", () => {
  const SILENT = { prompt: "none" };

  it("is login_required if nobody is signed in at the provider, and works afterwards", async () => {
    await start();
    expect(await errorOf(SILENT)).toBe("login_required");
    await signIn();
    expect((await ask(SILENT)).has("code")).toBe(true);
    expect(await errorOf(SILENT, GRACE)).toBe("login_required");
    provider.signedIn.clear();
    expect(await errorOf(SILENT)).toBe("login_required");
  });

  it("is login_required if the sign-in is older than max_age", async () => {
    await start();
    await signIn();
    clock.advance(61_000);
    expect((await ask({ ...SILENT, max_age: "61" })).has("code")).toBe(true);
    expect(await errorOf({ ...SILENT, max_age: "60" })).toBe("login_required");
  });

  it("fails with another error on demand, with state and iss", async () => {
    await start({ promptNoneError: "interaction_required" });
    await signIn();
    const response = await ask({ ...SILENT, state: "s" });
    expect(Object.fromEntries(response)).toMatchObject({
      error: "interaction_required",
      state: "s",
      iss: provider.issuer,
    });
    provider.settings.promptNoneError = undefined;
    expect((await ask(SILENT)).has("code")).toBe(true);
  });

  it.each([{ prompt: "none login" }, { max_age: "soon" }, { max_age: "-1" }])(
    "%o is the client's error",
    async (parameters) => {
      await start();
      expect(await errorOf(parameters)).toBe("invalid_request");
    },
  );
});

it("claims that only userinfo contains", async () => {
  await start({ userinfoOnly: ["groups"], person: { ...GRACE, groups: ["staff"] } });
  const response = await signIn();
  expect(claimsOf(response)).toMatchObject({ sub: "grace", email: "grace@example.com" });
  expect(claimsOf(response)).not.toHaveProperty("groups");
  const userinfo = await fetch(`${provider.issuer}/userinfo`, {
    headers: { authorization: `Bearer ${response["access_token"] ?? ""}` },
  });
  expect(await userinfo.json()).toMatchObject({ sub: "grace", groups: ["staff"] });
});
