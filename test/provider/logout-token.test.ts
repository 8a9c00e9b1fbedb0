import { createSecretKey, generateKeyPairSync } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { ProviderUnavailableError } from "../../src/errors.js";
import { refused, rejection, startRig, unavailable, type Rig } from "./rig.js";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

let rig: Rig;
afterEach(() => rig.idp.stop());

describe("a logout token", () => {
  it("has sub, sid or both", async () => {
    rig = await startRig();
    const { idp, provider } = rig;
    const iat = Math.floor(idp.clock.now() / 1000);
    expect(await provider.verifyLogoutToken(idp.logoutToken({ sub: "ada" }))).toEqual({
      sub: "ada",
      iat,
      issuer: idp.issuer,
    });
    expect(await provider.verifyLogoutToken(idp.logoutToken({ sid: "s" }))).toEqual({
      sid: "s",
      iat,
      issuer: idp.issuer,
    });
  });

  it.each([
    ["iss", { claims: { iss: "https://evil.example" } }],
    ["aud", { claims: { aud: "another" } }],
    ["aud", { claims: { aud: undefined } }],
    ["aud", { claims: { aud: ["test-client", "another"] } }],
    ["nbf", { claims: { nbf: 99_999_999_999 } }],
    ["nbf", { claims: { nbf: "now" } }],
    ["iat", { claims: { iat: undefined } }],
    ["iat", { iat: 99_999_999_999 }],
    ["exp", { claims: { exp: undefined } }],
    ["exp", { claims: { exp: 1 } }],
    ["events", { claims: { events: undefined } }],
    ["events", { claims: { events: { "https://other.example/event": {} } } }],
    ["events", { claims: { events: { [EVENT]: true } } }],
    ["events", { claims: { events: [EVENT] } }],
    ["nonce", { claims: { nonce: "n" } }],
    ["sub", { claims: { sub: undefined } }],
    ["sub", { claims: { sub: 7 } }],
    ["sub", { claims: { sub: undefined, sid: "" } }],
    ["sid", { claims: { sid: ["a"] } }],
    ["sid", { claims: { sid: "s".repeat(1_001) } }],
    ["typ", { header: { typ: "JWT" } }],
    ["typ", { header: { typ: undefined } }],
    ["alg", { header: { alg: "none" } }],
    [
      "alg",
      { header: { alg: "HS256" }, key: createSecretKey(Buffer.from("test secret")).export() },
    ],
    ["crit", { header: { crit: ["b64"] } }],
    ["signature", { key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey }],
  ])("[ASVS-10.5.5] is refused: %s %j", async (what, options) => {
    rig = await startRig();
    expect(
      await rejection(
        rig.provider.verifyLogoutToken(rig.idp.logoutToken({ sub: "ada", ...options })),
      ),
    ).toBe(refused(`logout_token_${what}`));
  });

  describe.each([
    ["/realms/shop/protocol/openid-connect/auth", false],
    ["/oauth/v2/authorize", false],
    ["/oauth2/auth", true],
  ])("of a provider that is known to leave something out (%s)", (path, mayLackExp) => {
    /** The user, or the refusal. */
    async function verified(options: Parameters<Rig["idp"]["logoutToken"]>[0], age = 0) {
      rig = await startRig();
      const iat = Math.floor(rig.idp.clock.now() / 1000) - age;
      const authorization_endpoint = new URL(path, rig.idp.issuer).href;
      const provider = rig.settingsWith({ providerMetadata: { authorization_endpoint } });
      const verification = provider.verifyLogoutToken(rig.idp.logoutToken({ iat, ...options }));
      return verification.then(
        ({ sub }) => sub,
        () => rejection(verification),
      );
    }

    it.each(["JWT", undefined])("it's accepted with `typ` %s", async (typ) => {
      expect(await verified({ sub: "ada", header: { typ } })).toBe("ada");
    });

    it.each([
      ["typ", { header: { typ: "at+jwt" } }],
      ["events", { header: { typ: "JWT" }, claims: { events: undefined } }],
    ])("it's refused all the same for its %s", async (what, options) => {
      expect(await verified({ sub: "ada", ...options })).toBe(refused(`logout_token_${what}`));
    });

    it.each([
      [115, mayLackExp],
      [126, false],
    ])("without `exp` and %s seconds old, it's accepted: %s", async (age, isAccepted) => {
      const token = { sub: "ada", claims: { exp: undefined } };
      expect(await verified(token, age)).toBe(isAccepted ? "ada" : refused("logout_token_exp"));
    });
  });

  it.each(["", "a.b.c", `${"a".repeat(16_385)}.a.a`])(
    "is refused: no JWT, or too long",
    async (token) => {
      rig = await startRig();
      expect(await rejection(rig.provider.verifyLogoutToken(token))).toBe(
        refused(token.length > 16_384 ? "logout_token_size" : "logout_token_format"),
      );
    },
  );

  it("has a sid of at most 1,000 characters, and so does the ID token of a sign-in", async () => {
    rig = await startRig();
    const { idp } = rig;
    const sid = "s".repeat(1_000);
    expect(await rig.provider.verifyLogoutToken(idp.logoutToken({ sid }))).toMatchObject({ sid });
    idp.mutateIdToken = ({ claims }) => ({ claims: { ...claims, sid } });
    expect((await rig.exchange()).idInfo["sid"]).toBe(sid);
    idp.mutateIdToken = ({ claims }) => ({ claims: { ...claims, sid: `${sid}s` } });
    expect(await rejection(rig.exchange())).toBe(refused("id_token_sid"));
  });

  it("may also be for an audience that IDP_TRUSTED_AUDIENCES names, and begin to be valid now", async () => {
    rig = await startRig();
    const provider = rig.settingsWith({ trustedAudiences: ["partner"] });
    const nbf = Math.floor(rig.clock.now() / 1000);
    const token = rig.idp.logoutToken({
      sub: "ada",
      claims: { aud: ["test-client", "partner"], nbf },
    });
    expect(await provider.verifyLogoutToken(token)).toMatchObject({ sub: "ada" });
  });

  it("that is encrypted is refused, without a request to the provider", async () => {
    rig = await startRig();
    const header = Buffer.from(JSON.stringify({ alg: "RSA-OAEP", enc: "A256GCM" })).toString(
      "base64url",
    );
    expect(await rejection(rig.provider.verifyLogoutToken(`${header}.a.b.c.d`))).toBe(
      refused("logout_token_encrypted"),
    );
    expect(rig.idp.requests).toEqual([]);
  });

  it("for another client or from another issuer is refused while the provider is down; one for this client is an outage", async () => {
    rig = await startRig();
    const { idp, provider } = rig;
    const tokenWith = (claims: Record<string, unknown>) => idp.logoutToken({ sub: "ada", claims });
    idp.fault("discovery", { kind: "reset" });
    expect(await rejection(provider.verifyLogoutToken(tokenWith({ aud: "another" })))).toBe(
      refused("logout_token_aud"),
    );
    expect(
      await rejection(provider.verifyLogoutToken(tokenWith({ iss: "https://evil.example" }))),
    ).toBe(refused("logout_token_iss"));
    expect(idp.requests).toEqual([]);
    await expect(provider.verifyLogoutToken(tokenWith({}))).rejects.toBeInstanceOf(
      ProviderUnavailableError,
    );
  });

  it("whose signature is wrong is refused only under a key that was fetched after it came", async () => {
    rig = await startRig();
    const { idp, provider, clock } = rig;
    await provider.verifyLogoutToken(idp.logoutToken({ sub: "ada" }));
    await idp.rotateKeys({ keepOld: false, kid: idp.jwks.document().keys[0]?.["kid"] as string });
    const token = idp.logoutToken({ sub: "ada" });
    expect(await rejection(provider.verifyLogoutToken(token))).toBe(unavailable("unknown_key"));
    clock.advance(5_000);
    expect(await provider.verifyLogoutToken(token)).toMatchObject({ sub: "ada" });
  });

  it("an ID token is none, and a logout token is no ID token", async () => {
    rig = await startRig();
    expect(
      await rejection(
        rig.provider.verifyLogoutToken(
          rig.idp.logoutToken({ sub: "ada", header: { typ: "at+jwt" } }),
        ),
      ),
    ).toBe(refused("logout_token_typ"));
  });

  it("keys that cannot be fetched are an outage, not a refusal", async () => {
    rig = await startRig();
    rig.idp.fault("jwks", { kind: "status", status: 503 });
    await expect(
      rig.provider.verifyLogoutToken(rig.idp.logoutToken({ sub: "ada" })),
    ).rejects.toBeInstanceOf(ProviderUnavailableError);
  });

  it("a new key is found, and keys for strangers' tokens are fetched once in 5 seconds", async () => {
    rig = await startRig();
    const { idp, provider } = rig;
    await provider.verifyLogoutToken(idp.logoutToken({ sub: "ada" }));
    await idp.rotateKeys();
    rig.clock.advance(5_000);
    expect(await provider.verifyLogoutToken(idp.logoutToken({ sub: "ada" }))).toMatchObject({
      sub: "ada",
    });
    const fetches = idp.requestsTo("jwks").length;
    for (let count = 0; count < 20; count += 1) {
      const token = idp.logoutToken({ sub: "ada", header: { kid: `unknown-${String(count)}` } });
      await expect(provider.verifyLogoutToken(token)).rejects.toBeInstanceOf(
        ProviderUnavailableError,
      );
    }
    expect(idp.requestsTo("jwks").length).toBe(fetches);
    provider.assertReadyToExchange();
    provider.assertReadyToRefresh("session");
  });

  it("that names a key that isn't published is tried with no other key, since anyone can send it", async () => {
    rig = await startRig();
    await rig.exchange();
    const token = rig.idp.logoutToken({ sub: "ada", header: { kid: "unknown" } });
    expect(await rejection(rig.provider.verifyLogoutToken(token))).toBe(unavailable("unknown_key"));
  });

  it("a stranger's token whose fetch of keys fails delays no sign-in with a new key", async () => {
    rig = await startRig();
    await rig.exchange();
    rig.idp.fault("jwks", { kind: "status", status: 500, times: 1 });
    const token = rig.idp.logoutToken({ sub: "ada", header: { kid: "unknown" } });
    await expect(rig.provider.verifyLogoutToken(token)).rejects.toBeInstanceOf(
      ProviderUnavailableError,
    );
    await rig.idp.rotateKeys({ keepOld: false });
    expect((await rig.exchange()).idInfo.sub).toBe("ada-1815");
  });
});
