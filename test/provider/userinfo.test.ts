import { beforeEach, describe, expect, it } from "vitest";
import type { DroppedTokens, Provider } from "../../src/ports/provider.js";
import type { SignIn, Identity } from "../../src/record/credentials.js";
import type { Fault } from "../../src/testing/provider/test-provider.js";
import {
  NONCE,
  recordOf,
  REDIRECT_URI,
  refused,
  rejection,
  SESSION,
  unavailable,
  VERIFIER,
} from "./rig.js";
import { rig, shareRig } from "./shared-rig.js";

/** With IDP_USERINFO=always. */
let provider: Provider;

shareRig();
beforeEach(() => {
  provider = rig.settingsWith({ userinfo: "always" });
});

const never = new AbortController().signal;
const SIGNED = {
  kind: "status",
  status: 200,
  headers: { "content-type": "application/jwt" },
  body: "a.b.c",
} as const;
const userinfoRequests = () => rig.idp.requestsTo("userinfo").length;
const messages = () => rig.logged.map(({ message }) => message);
const noUserinfo = ({ userinfo_endpoint: _gone, ...document }: Record<string, unknown>) => document;

/** Refreshes with the provider of this test. */
async function renew(
  signedIn: SignIn,
  refreshToken = signedIn.credentials.refresh_token ?? "",
): Promise<Identity> {
  const request = { refreshToken, session: SESSION, signal: never };
  return provider.verifyRefreshed(await provider.refresh(request), recordOf(signedIn), request);
}

/** Has refresh responses carry no ID token. */
function refreshWithoutIdToken(): void {
  rig.idp.tokenResponse = ({ id_token, ...response }, request) =>
    request.params.get("grant_type") === "refresh_token" ? response : { ...response, id_token };
}

const OUTAGES = [
  ["no connection", { kind: "reset" }, "network"],
  ["500", { kind: "status", status: 500 }, "http_500"],
  ["429", { kind: "status", status: 429 }, "http_429"],
  ["403", { kind: "status", status: 403 }, "http_403"],
  ["no JSON", { kind: "garbage" }, "not_json"],
  ["a list", { kind: "garbage", body: "[]" }, "not_json"],
  [
    "more than an ID token may have",
    { kind: "garbage", body: `{"sub":"ada-1815","x":"${"x".repeat(262_144)}"}` },
    "too_large",
  ],
  ["more than 1 MiB", { kind: "oversized" }, "too_large"],
  ["a redirect", { kind: "redirect" }, "http_302"],
] satisfies [string, Fault, string][];

describe("a sign-in with IDP_USERINFO=always", () => {
  it("adds userinfo's claims to those of the ID token, and gives them as they came too", async () => {
    rig.idp.userinfoResponse = (claims) => ({
      ...claims,
      name: "Other",
      groups: ["staff"],
      exp: 1,
      acr: "high",
    });
    const { idInfo, userinfo, userinfoClaims } = await rig.exchange(provider);
    expect(idInfo).toMatchObject({
      name: "Ada Lovelace",
      email: "ada@example.com",
      groups: ["staff"],
    });
    expect([idInfo.exp === 1, "acr" in idInfo]).toEqual([false, false]);
    expect(userinfo).toMatchObject({ sub: "ada-1815", name: "Other", exp: 1, acr: "high" });
    expect(userinfoClaims).toEqual(["groups"]);
    expect(userinfoRequests()).toBe(1);
  });

  it("drops distributed and aggregated claims, but gives them as they came", async () => {
    const references = {
      _claim_names: { groups: "src1" },
      _claim_sources: { src1: { endpoint: "https://graph.example/groups" } },
    };
    rig.idp.userinfoResponse = (claims) => ({ ...claims, ...references });
    const { idInfo, userinfo } = await rig.exchange(provider);
    expect(Object.keys(idInfo).filter((name) => name.startsWith("_"))).toEqual([]);
    expect(userinfo).toMatchObject(references);
  });

  it.each(OUTAGES)(
    "is an outage if userinfo responds with %s, and its tokens are handed back",
    async (_name, fault, reason) => {
      rig.idp.fault("userinfo", fault);
      const dropped: DroppedTokens[] = [];
      const code = await rig.code(provider);
      const exchange = provider.exchange({
        ...{ code, redirectUri: REDIRECT_URI, nonce: NONCE, verifier: VERIFIER },
        dropped: (tokens) => dropped.push(tokens),
      });
      expect(await rejection(exchange)).toBe(unavailable(reason));
      const newest = (kind: string) =>
        rig.idp.issued.findLast((issued) => issued.kind === kind)?.value;
      expect(dropped).toEqual([
        { accessToken: newest("access_token"), refreshToken: newest("refresh_token") },
      ]);
      expect(messages().join()).toContain("The sign-in stops, since IDP_USERINFO is always.");
    },
  );

  it.each([
    [
      "another sub",
      (claims: Record<string, unknown>) => ({ ...claims, sub: "somebody-else" }),
      refused("userinfo_sub"),
    ],
    [
      "no sub",
      ({ sub: _none, ...claims }: Record<string, unknown>) => claims,
      unavailable("userinfo_sub_missing"),
    ],
    [
      "a sub that is a list",
      (claims: Record<string, unknown>) => ({ ...claims, sub: ["ada-1815"] }),
      unavailable("userinfo_sub_missing"),
    ],
  ])(
    "stops if userinfo names %s, and its tokens are handed back",
    async (_name, change, reason) => {
      rig.idp.userinfoResponse = change;
      let handedBack = 0;
      const exchange = provider.exchange({
        ...{
          code: await rig.code(provider),
          redirectUri: REDIRECT_URI,
          nonce: NONCE,
          verifier: VERIFIER,
        },
        dropped: () => (handedBack += 1),
      });
      expect(await rejection(exchange)).toBe(reason);
      expect(handedBack).toBe(1);
    },
  );

  it("is not set up correctly if userinfo does not accept the access token", async () => {
    rig.idp.fault("userinfo", { kind: "status", status: 401 });
    await expect(rig.exchange(provider)).rejects.toMatchObject({
      code: "provider_misconfigured",
      reason: "userinfo_refused",
    });
    // A code of another user may be accepted.
    provider.assertReadyToExchange();
  });

  it("spends no code while userinfo backs off after no response; a response to one user blocks no other", async () => {
    const withdraw = rig.idp.fault("userinfo", { kind: "status", status: 500 });
    await rejection(rig.exchange(provider));
    provider.assertReadyToExchange();
    withdraw();
    rig.idp.fault("userinfo", { kind: "reset", times: 1 });
    await rejection(rig.exchange(provider));
    expect(() => {
      provider.assertReadyToExchange();
    }).toThrow("backing_off");
    rig.clock.advance(60_000);
    await rig.exchange(provider);
  });

  it("is not set up correctly if userinfo is signed, and the log says so once", async () => {
    rig.idp.fault("userinfo", SIGNED);
    for (const _signIn of [1, 2])
      await expect(rig.exchange(provider)).rejects.toMatchObject({
        code: "provider_misconfigured",
        reason: "userinfo_signed",
      });
    expect(messages()).toEqual([
      expect.stringContaining("(application/jwt), which idpauth doesn't support"),
    ]);
  });

  it("does not begin without a userinfo endpoint, and the log says once what to set", async () => {
    rig.idp.discoveryDocument = noUserinfo;
    for (const _login of [1, 2])
      await expect(rig.code(provider)).rejects.toMatchObject({
        code: "provider_misconfigured",
        reason: "userinfo_endpoint_missing",
      });
    expect(messages()).toEqual([
      expect.stringMatching(
        /IDP_USERINFO is always.*Set IDP_USERINFO to when-needed.*IDP_PROVIDER_METADATA/,
      ),
    ]);
    expect(rig.idp.requestsTo("authorize")).toEqual([]);
  });
});

describe("a sign-in with IDP_USERINFO=when-needed", () => {
  it("keeps all claims that the response contained", async () => {
    expect(await rig.exchange()).not.toHaveProperty("userinfo");
    rig.idp.settings.claimsInIdToken = false;
    rig.idp.userinfoResponse = (claims) => ({ ...claims, groups: ["staff"], acr: "high" });
    const signedIn = await rig.exchange();
    expect(signedIn.userinfo).toMatchObject({ sub: "ada-1815", groups: ["staff"] });
    expect(signedIn.idInfo).toMatchObject({ name: "Ada Lovelace", groups: ["staff"] });
    expect(signedIn.idInfo).not.toHaveProperty("acr");
  });

  it("a refresh with an ID token keeps them without another call", async () => {
    rig.idp.settings.claimsInIdToken = false;
    rig.idp.userinfoResponse = (claims) => ({ ...claims, groups: ["staff"] });
    provider = rig.settingsWith({});
    const signedIn = await rig.exchange(provider);
    const { idInfo, userinfoClaims } = await renew(signedIn);
    expect(idInfo).toMatchObject({ name: "Ada Lovelace", groups: ["staff"] });
    expect(userinfoClaims).toContain("groups");
    expect(userinfoRequests()).toBe(1);
  });
});

describe.each([
  ["with an ID token", () => undefined],
  ["without an ID token", refreshWithoutIdToken],
])("a refresh %s, with IDP_USERINFO=always", (_name, prepare) => {
  beforeEach(prepare);

  it("replaces the claims that userinfo gave before, removes absent ones, and adds new ones", async () => {
    rig.idp.userinfoResponse = (claims) => ({
      ...claims,
      groups: ["staff", "admin"],
      locale: "en",
      name: "Other",
    });
    const signedIn = await rig.exchange(provider);
    rig.idp.userinfoResponse = (claims) => ({
      ...claims,
      groups: ["staff"],
      department: "engines",
      name: "Other",
      auth_time: 1,
    });
    const { idInfo, userinfo, userinfoClaims } = await renew(signedIn);
    expect(idInfo).toMatchObject({
      groups: ["staff"],
      department: "engines",
      name: "Ada Lovelace",
    });
    expect(["locale" in idInfo, "auth_time" in idInfo]).toEqual([false, false]);
    expect(userinfo).toMatchObject({ groups: ["staff"], name: "Other", auth_time: 1 });
    expect([...userinfoClaims].sort()).toEqual(["department", "groups"]);
    expect(userinfoRequests()).toBe(2);
  });

  it("takes email and email_verified from one document", async () => {
    rig.idp.settings.claimsInIdToken = false;
    const signedIn = await rig.exchange(provider);
    expect(signedIn.idInfo).toMatchObject({ email: "ada@example.com", email_verified: true });
    rig.idp.userinfoResponse = ({ email_verified: _flag, ...claims }) => ({
      ...claims,
      email: "new@example.com",
    });
    const { idInfo } = await renew(signedIn);
    expect(idInfo.email).toBe("new@example.com");
    expect(idInfo).not.toHaveProperty("email_verified");
  });

  it.each(OUTAGES)(
    "is an outage if userinfo responds with %s, and the next refresh works",
    async (_outage, fault, reason) => {
      const signedIn = await rig.exchange(provider);
      const withdraw = rig.idp.fault("userinfo", fault);
      const request = {
        refreshToken: signedIn.credentials.refresh_token ?? "",
        session: SESSION,
        signal: never,
      };
      const spent = await provider.refresh(request);
      expect(await rejection(provider.verifyRefreshed(spent, recordOf(signedIn), request))).toBe(
        unavailable(reason),
      );
      withdraw();
      rig.clock.advance(60_000);
      expect((await renew(signedIn, spent.refreshToken)).idInfo).toMatchObject({
        sub: "ada-1815",
        name: "Ada Lovelace",
      });
    },
  );

  it("is refused if userinfo names another sub", async () => {
    const signedIn = await rig.exchange(provider);
    rig.idp.userinfoResponse = (claims) => ({ ...claims, sub: "somebody-else" });
    expect(await rejection(renew(signedIn))).toBe(refused("userinfo_sub"));
  });

  it("is not set up correctly if userinfo is signed; the session is kept, and backs off", async () => {
    const signedIn = await rig.exchange(provider);
    rig.idp.fault("userinfo", SIGNED);
    await expect(renew(signedIn)).rejects.toMatchObject({
      code: "provider_misconfigured",
      reason: "userinfo_signed",
    });
    expect(await rejection(renew(signedIn))).toBe(unavailable("backing_off"));
  });

  it("spends no refresh token without a userinfo endpoint", async () => {
    const signedIn = await rig.exchange();
    rig.idp.discoveryDocument = noUserinfo;
    provider = rig.settingsWith({ userinfo: "always" });
    const before = rig.idp.requestsTo("token").length;
    await expect(renew(signedIn)).rejects.toMatchObject({
      code: "provider_misconfigured",
      reason: "userinfo_endpoint_missing",
    });
    expect(rig.idp.requestsTo("token")).toHaveLength(before);
  });
});

it("a session that began with IDP_USERINFO=when-needed gets userinfo's claims when always is set, and keeps them afterwards", async () => {
  rig.idp.userinfoResponse = (claims) => ({ ...claims, groups: ["staff"] });
  const signedIn = await rig.exchange();
  const { idInfo, userinfoClaims } = await renew(signedIn);
  expect(idInfo).toMatchObject({ groups: ["staff"] });
  provider = rig.settingsWith({});
  const later = await renew(
    { ...signedIn, idInfo, userinfoClaims },
    rig.idp.issued.findLast(({ kind }) => kind === "refresh_token")?.value,
  );
  expect(later.idInfo).toMatchObject({ name: "Ada Lovelace", groups: ["staff"] });
});
