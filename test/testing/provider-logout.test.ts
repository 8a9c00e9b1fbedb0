import { generateKeyPairSync } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterEach, describe, expect, it } from "vitest";
import {
  compactJws,
  startTestProvider,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { LogoutClient, RETURN_TO } from "./logout-client.js";

let provider: TestProvider;
let clock: TestClock;
let client: LogoutClient;

async function start(options: TestProviderOptions = {}): Promise<void> {
  clock = new TestClock();
  provider = await startTestProvider({ clock, pkce: "ignored", ...options });
  client = new LogoutClient(provider);
}

afterEach(async () => {
  await provider.stop();
});

const claimsOf = ({ id_token = "" }: Record<string, string>) =>
  decodeJwt<Record<string, unknown>>(id_token);
const sidOf = (reply: Record<string, string>) => String(claimsOf(reply)["sid"]);

async function discovered(): Promise<Record<string, unknown>> {
  const response = await fetch(`${provider.issuer}/.well-known/openid-configuration`);
  return (await response.json()) as Record<string, unknown>;
}

describe("the claim sid", () => {
  it("is the same for every sign-in during one session at the provider, and after a refresh", async () => {
    await start();
    const first = await client.signIn();
    const { refresh_token = "" } = first;
    expect(sidOf(first)).toMatch(/^[\w-]{22}$/);
    expect(sidOf(await client.signIn({ prompt: "login" }))).toBe(sidOf(first));
    expect(sidOf(await client.tokens({ grant_type: "refresh_token", refresh_token }))).toBe(
      sidOf(first),
    );
  });

  it("is another one after the session at the provider has ended, and for another user", async () => {
    await start();
    const first = sidOf(await client.signIn());
    expect(sidOf(await client.signIn({}, { sub: "grace" }))).not.toBe(first);
    provider.signedIn.clear();
    expect(sidOf(await client.signIn())).not.toBe(first);
  });

  it("can be set by a claim of the user, so that one user has several sessions", async () => {
    await start();
    const reply = await client.signIn({}, { sub: "ada-1815", sid: "laptop" });
    expect(sidOf(reply)).toBe("laptop");
    expect(sidOf(await client.signIn({}, { sub: "ada-1815", sid: "phone" }))).toBe("phone");
    await client.endSession({ id_token_hint: reply["id_token"] ?? "" });
    expect([...provider.signedIn.keys()]).toEqual(["ada-1815"]);
    await provider.endSession("phone");
    expect([...provider.signedIn.keys()]).toEqual([]);
  });

  it("is absent with sid: ignored", async () => {
    await start({ sid: "ignored" });
    expect(claimsOf(await client.signIn())).not.toHaveProperty("sid");
  });
});

describe("the end session endpoint", () => {
  it.each(["GET", "POST"])(
    "ends the session by %s and goes to the address of the client with state",
    async (method) => {
      await start({ postLogoutRedirectUris: [RETURN_TO] });
      const reply = await client.signIn();
      const parameters = {
        id_token_hint: reply["id_token"] ?? "",
        post_logout_redirect_uri: RETURN_TO,
        state: "s+1",
      };
      expect(await client.endSession(parameters, method)).toMatchObject({
        status: 302,
        location: `${RETURN_TO}?state=s%2B1`,
      });
      expect(provider.signedIn.size).toBe(0);
      expect(provider.requestsTo("endSession").map((request) => request.method)).toEqual([method]);
      expect(sidOf(await client.signIn())).not.toBe(sidOf(reply));
    },
  );

  it("accepts an expired hint, and one that was signed before the keys were rotated", async () => {
    await start();
    const { id_token = "" } = await client.signIn();
    clock.advance(86_400_000);
    await provider.rotateKeys();
    expect(
      await client.endSession({ id_token_hint: id_token, client_id: provider.clientId }),
    ).toMatchObject({
      status: 200,
      location: null,
    });
    expect(provider.signedIn.size).toBe(0);
  });

  it("without a hint ends the session of logout_hint, or of provider.person", async () => {
    await start({ people: [{ sub: "ada" }, { sub: "grace", email: "grace@example.com" }] });
    for (const login_hint of ["ada", "grace"]) await client.signIn({ login_hint });
    await client.endSession({ client_id: provider.clientId, logout_hint: "grace@example.com" });
    expect([...provider.signedIn.keys()]).toEqual(["ada"]);
    await client.endSession({});
    expect(provider.signedIn.size).toBe(0);
  });

  it("revokes the refresh tokens of the session, but not those with offline_access", async () => {
    await start();
    const online = await client.signIn();
    const offline = await client.signIn({ scope: "openid offline_access" });
    await client.endSession({ id_token_hint: online["id_token"] ?? "" });
    expect(
      [online, offline].map(({ refresh_token = "" }) => provider.isActive(refresh_token)),
    ).toEqual([false, true]);
  });

  const foreign = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  it.each<[string, (idToken: string) => Record<string, string>, string]>([
    [
      "a hint with another signature",
      (idToken) => ({ id_token_hint: `${idToken.slice(0, -8)}AAAAAAAA` }),
      "id_token_hint has a wrong signature",
    ],
    [
      "a hint of another provider",
      (idToken) => ({
        id_token_hint: compactJws(decodeProtectedHeader(idToken), decodeJwt(idToken), foreign),
      }),
      "id_token_hint has a wrong signature",
    ],
    [
      "a hint that is no token",
      () => ({ id_token_hint: "hint" }),
      "id_token_hint has a wrong signature",
    ],
    [
      "another client",
      (idToken) => ({ id_token_hint: idToken, client_id: "another" }),
      "client_id names another client",
    ],
    [
      "an address that is not registered",
      (idToken) => ({ id_token_hint: idToken, post_logout_redirect_uri: `${RETURN_TO}/` }),
      "post_logout_redirect_uri is not registered",
    ],
    [
      "an address without hint and client",
      () => ({ post_logout_redirect_uri: RETURN_TO }),
      "post_logout_redirect_uri needs id_token_hint or client_id",
    ],
  ])(
    "refuses %s: a violation, an error page, and the session goes on",
    async (_name, parameters, violation) => {
      await start({ postLogoutRedirectUris: [RETURN_TO] });
      const { id_token = "" } = await client.signIn();
      const response = await client.endSession(parameters(id_token));
      expect([response.status, response.location]).toEqual([400, null]);
      expect(response.text).toContain(violation);
      expect(provider.signedIn.size).toBe(1);
      expect(provider.violations.splice(0)).toEqual([`GET endSession: ${violation}`]);
    },
  );

  it("refuses a hint whose audience is another client", async () => {
    await start();
    provider.mutateIdToken = ({ claims }) => ({ claims: { ...claims, aud: "another" } });
    const { id_token = "" } = await client.signIn();
    expect((await client.endSession({ id_token_hint: id_token })).status).toBe(400);
    expect(provider.violations.splice(0)).toEqual([
      "GET endSession: id_token_hint belongs to another client",
    ]);
  });

  it("loads the front-channel address in a frame, and goes on to the address of the client", async () => {
    await start({ frontchannelLogoutUri: "http://127.0.0.1:1/frontchannel-logout?a=1" });
    const reply = await client.signIn();
    const { status, text } = await client.endSession({
      id_token_hint: reply["id_token"] ?? "",
      post_logout_redirect_uri: RETURN_TO,
    });
    const frame = /<iframe src="([^"]*)"/.exec(text)?.[1]?.replaceAll("&#38;", "&") ?? "";
    expect(status).toBe(200);
    expect(Object.fromEntries(new URL(frame).searchParams)).toEqual({
      a: "1",
      iss: provider.issuer,
      sid: sidOf(reply),
    });
    expect(text).toContain(`<meta http-equiv="refresh" content="0; url=${RETURN_TO}">`);
  });

  it("has faults as the other endpoints have", async () => {
    await start();
    provider.fault("endSession", { kind: "status", status: 503, times: 1 });
    expect((await client.endSession({})).status).toBe(503);
    expect((await client.endSession({})).status).toBe(200);
  });
});

describe("discovery", () => {
  const members = [
    "end_session_endpoint",
    "backchannel_logout_supported",
    "backchannel_logout_session_supported",
  ];
  const front = ["frontchannel_logout_supported", "frontchannel_logout_session_supported"];
  const announced = async () => {
    const document = await discovered();
    return [...members, ...front]
      .filter((name) => name in document)
      .map((name) => [name, document[name]]);
  };

  it("names the end session endpoint, unless the setting says otherwise", async () => {
    await start();
    expect(await announced()).toEqual([["end_session_endpoint", `${provider.issuer}/end-session`]]);
    provider.settings.endSession = "ignored";
    expect(await announced()).toEqual([]);
    expect((await client.endSession({})).status).toBe(404);
  });

  it("says what the addresses of the application support", async () => {
    const address = "http://127.0.0.1:1/logout";
    await start({
      endSession: "ignored",
      backchannelLogoutUri: address,
      frontchannelLogoutUri: address,
    });
    expect(await announced()).toEqual([...members.slice(1), ...front].map((name) => [name, true]));
    provider.settings.sid = "ignored";
    expect(await announced()).toEqual([
      ["backchannel_logout_supported", true],
      ["backchannel_logout_session_supported", false],
      ["frontchannel_logout_supported", true],
      ["frontchannel_logout_session_supported", false],
    ]);
  });
});
