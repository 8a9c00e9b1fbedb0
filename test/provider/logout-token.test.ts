import { createSecretKey, generateKeyPairSync } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ProviderUnavailableError } from "../../src/errors.js";
import { refused, rejection, startRig, unavailable, type Rig } from "./rig.js";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";

let rig: Rig;
afterEach(() => rig.idp.stop());

describe("a logout token", () => {
  it("has sub, sid or both", async () => {
    rig = await startRig();
    const { idp, provider } = rig;
    await rig.exchange();
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
    ["typ", { header: { typ: "at+jwt" } }],
    ["typ", { header: { typ: 7 } }],
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

  it.each(["JWT", "application/jwt", undefined])("may have `typ` %s", async (typ) => {
    rig = await startRig();
    const token = rig.idp.logoutToken({ sub: "ada", header: { typ } });
    expect(await rig.provider.verifyLogoutToken(token)).toMatchObject({ sub: "ada" });
  });

  it("of an algorithm that the provider doesn't advertise is refused, although its key is published", async () => {
    rig = await startRig();
    const { idp, provider } = rig;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const key = { ...publicKey.export({ format: "jwk" }), kid: "ec", use: "sig", alg: "ES256" };
    idp.jwks.publish({ keys: [...idp.jwks.document().keys, key] });
    const token = idp.logoutToken({
      sub: "ada",
      header: { alg: "ES256", kid: "ec" },
      key: privateKey,
    });
    expect(await rejection(provider.verifyLogoutToken(token))).toBe(refused("logout_token_alg"));
    // Strangers can't make idpauth ask for the document with each token.
    await rejection(provider.verifyLogoutToken(token));
    expect(idp.requestsTo("discovery")).toHaveLength(1);
  });

  describe("of an algorithm that the provider has advertised since the document was fetched", () => {
    /** The provider now signs with PS256 too, and 31 seconds have passed. */
    async function tokenAfterChange(): Promise<string> {
      rig = await startRig();
      const { idp, provider, clock } = rig;
      await provider.facts();
      const keys = idp.jwks.document().keys.map(({ alg: _alg, ...key }) => key);
      idp.jwks.publish({ keys });
      idp.discoveryDocument = (document) => ({
        ...document,
        id_token_signing_alg_values_supported: ["RS256", "PS256"],
      });
      clock.advance(31_000);
      return idp.logoutToken({ sub: "ada", header: { alg: "PS256" } });
    }

    it("is accepted, and the document is fetched once", async () => {
      const token = await tokenAfterChange();
      for (let time = 0; time < 2; time += 1)
        expect(await rig.provider.verifyLogoutToken(token)).toMatchObject({ sub: "ada" });
      expect(rig.idp.requestsTo("discovery")).toHaveLength(2);
    });

    it("waits while the document can't be fetched", async () => {
      const token = await tokenAfterChange();
      rig.idp.fault("discovery", { kind: "status", status: 503 });
      expect(await rejection(rig.provider.verifyLogoutToken(token))).toBe(unavailable("http_503"));
    });
  });

  it("needs the type from the first token on that had it", async () => {
    rig = await startRig();
    const { idp, provider } = rig;
    const untyped = idp.logoutToken({ sub: "ada", header: { typ: undefined } });
    const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    await rejection(provider.verifyLogoutToken(idp.logoutToken({ sub: "ada", key: stranger })));
    // Only a token of the provider's counts.
    expect(await provider.verifyLogoutToken(untyped)).toMatchObject({ sub: "ada" });
    await provider.verifyLogoutToken(idp.logoutToken({ sub: "ada" }));
    expect(await rejection(provider.verifyLogoutToken(untyped))).toBe(refused("logout_token_typ"));
    // Another registration's tokens say nothing of this one's.
    expect(await rig.settingsWith({}).verifyLogoutToken(untyped)).toMatchObject({ sub: "ada" });
  });

  it("may have the algorithm of IDP_ID_TOKEN_SIGNED_RESPONSE_ALG, although the provider doesn't advertise it", async () => {
    rig = await startRig();
    const keys = rig.idp.jwks.document().keys.map(({ alg: _alg, ...key }) => key);
    rig.idp.jwks.publish({ keys });
    const provider = rig.settingsWith({ idTokenSignedResponseAlg: "PS256" });
    const token = rig.idp.logoutToken({ sub: "ada", header: { alg: "PS256" } });
    expect(await provider.verifyLogoutToken(token)).toMatchObject({ sub: "ada" });
  });

  describe("of a provider that advertises several algorithms", () => {
    const logoutToken = (alg: string) => rig.idp.logoutToken({ sub: "ada", header: { alg } });

    beforeEach(async () => {
      rig = await startRig();
      const algorithms = ["RS256", "PS256", "RS512"];
      rig.idp.discoveryDocument = (document) => ({
        ...document,
        id_token_signing_alg_values_supported: algorithms,
      });
      const keys = rig.idp.jwks.document().keys.map(({ alg: _alg, ...key }) => key);
      rig.idp.jwks.publish({ keys });
    });

    it("ends any session if it's signed as the client's newest ID token is", async () => {
      await rig.exchange();
      expect(await rig.provider.verifyLogoutToken(logoutToken("RS256"))).not.toHaveProperty(
        "onlySignedWith",
      );
      rig.idp.mutateIdToken = ({ claims, header }) => ({
        claims,
        header: { ...header, alg: "PS256" },
      });
      await rig.exchange();
      const verified = async (alg: string) => {
        const logout = await rig.provider.verifyLogoutToken(logoutToken(alg));
        return [logout.onlySignedWith, logout.isUnusual];
      };
      expect(await Promise.all(["RS256", "PS256", "RS512"].map(verified))).toEqual([
        ["RS256", true],
        [undefined, undefined],
        ["RS512", true],
      ]);
    });

    it("names its algorithm if this process has verified no ID token", async () => {
      const token = logoutToken("PS256");
      const logout = await rig.provider.verifyLogoutToken(token);
      expect([logout.onlySignedWith, logout.isUnusual]).toEqual(["PS256", undefined]);
    });

    it("must be signed with the one that IDP_ID_TOKEN_SIGNED_RESPONSE_ALG names, and so must an ID token", async () => {
      const provider = rig.settingsWith({ idTokenSignedResponseAlg: "PS256" });
      expect(await rejection(provider.verifyLogoutToken(logoutToken("RS256")))).toBe(
        refused("logout_token_alg"),
      );
      expect(await provider.verifyLogoutToken(logoutToken("PS256"))).not.toHaveProperty(
        "onlySignedWith",
      );
      expect(await rejection(rig.exchange(provider))).toBe(unavailable("id_token_alg"));
      rig.idp.mutateIdToken = ({ claims, header }) => ({
        claims,
        header: { ...header, alg: "PS256" },
      });
      expect((await rig.exchange(provider)).idTokenAlg).toBe("PS256");
    });
  });

  describe.each([
    ["/realms/shop/protocol/openid-connect/auth", false],
    ["/oauth2/auth", true],
  ])("of a provider that may leave out `exp`, or not (%s)", (path, mayLackExp) => {
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
