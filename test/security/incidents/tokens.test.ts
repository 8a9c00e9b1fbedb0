/**
 * Incidents of other projects with tokens that were not verified, each replayed here. Ids are those
 * of the advisories.
 */
import {
  createCipheriv,
  createHash,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
} from "node:crypto";
import { deflateRawSync } from "node:zlib";
import { CompactEncrypt } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Events } from "../../../src/index.js";
import { rawRequest } from "../../../packages/idpauth-conformance/src/adapter/raw-request.js";
import type { IdTokenDraft, MutatedIdToken } from "../../../src/testing/provider/test-provider.js";
import { startApplication, type Application } from "../../support/application.js";
import {
  startExpressApplication,
  type ExpressApplication,
} from "../../support/express-application.js";

const HOUR = 3_600_000;
const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
const strangerJwk = stranger.publicKey.export({ format: "jwk" });

type Forge = (
  draft: IdTokenDraft,
  application: Application,
) => MutatedIdToken | Promise<MutatedIdToken>;

/** The right `sub`, so that a refresh has nothing else to find fault with. */
const eves = ({ claims }: IdTokenDraft) => ({ ...claims, email: "eve@example.com", name: "Eve" });
const header =
  (changes: Readonly<Record<string, unknown>>): Forge =>
  (draft) =>
    draft.sign({ ...draft.header, ...changes }, draft.claims);
const claims =
  (changes: Readonly<Record<string, unknown>>): Forge =>
  (draft) =>
    draft.sign(draft.header, { ...draft.claims, ...changes });
const hs256 =
  (key: (draft: IdTokenDraft, application: Application) => Uint8Array | string): Forge =>
  (draft, application) =>
    draft.sign(
      { ...draft.header, alg: "HS256" },
      eves(draft),
      Buffer.from(key(draft, application)),
    );
const bySomebodyElse =
  (changes: (jwks: string) => Readonly<Record<string, unknown>>): Forge =>
  (draft, { provider }) =>
    draft.sign(
      { ...draft.header, ...changes(`${provider.issuer}/evil-jwks`) },
      eves(draft),
      stranger.privateKey,
    );

const base64url = (value: unknown) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");
const unsigned = (draft: IdTokenDraft) =>
  `${base64url({ alg: "none" })}.${base64url(eves(draft))}.`;

/** A token of five parts whose content key can only be guessed from the client secret. */
function encrypted(draft: IdTokenDraft, { provider }: Application): Promise<string> {
  return new CompactEncrypt(Buffer.from(unsigned(draft)))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM", cty: "JWT" })
    .encrypt(createHash("sha256").update(provider.clientSecret).digest());
}

/** As above, 64 MiB of zeros behind 64 KiB. */
function bomb(_draft: IdTokenDraft, { provider }: Application): string {
  const protectedHeader = base64url({ alg: "dir", enc: "A256GCM", zip: "DEF", cty: "JWT" });
  const iv = randomBytes(12);
  const cipher = createCipheriv(
    "aes-256-gcm",
    createHash("sha256").update(provider.clientSecret).digest(),
    iv,
  ).setAAD(Buffer.from(protectedHeader));
  const content = Buffer.concat([
    cipher.update(deflateRawSync(Buffer.alloc(64 * 1024 * 1024))),
    cipher.final(),
  ]);
  return [
    protectedHeader,
    "",
    ...[iv, content, cipher.getAuthTag()].map((part) => part.toString("base64url")),
  ].join(".");
}

/** Incident, reason that our log gives, and the forged tokens. */
const FORGERIES: readonly (readonly [
  incident: string,
  reason: string,
  forged: Readonly<Record<string, Forge>>,
])[] = [
  [
    "[INC-30] CVE-2021-44878 pac4j: a token that says alg none was taken as verified",
    "alg",
    {
      none: unsigned,
      "in another letter case": (draft) =>
        draft.sign({ alg: "nOnE", kid: draft.header["kid"] }, eves(draft)),
      "with the signature of a good one": (draft) =>
        `${base64url({ alg: "none" })}.${base64url(eves(draft))}.${draft.sign(draft.header, draft.claims).split(".")[2] ?? ""}`,
      "without an algorithm": (draft) => draft.sign({ typ: "JWT" }, eves(draft)),
    },
  ],
  [
    "[INC-31] CVE-2026-29000 pac4j-jwt: an unsigned token inside an encrypted one was not verified",
    "format",
    {
      "five parts that begin with a good token": (draft) =>
        `${draft.sign(draft.header, draft.claims)}.AAAA.AAAA`,
      "signed around an unsigned one": (draft) =>
        draft.sign({ ...draft.header, cty: "JWT" }, JSON.stringify(unsigned(draft))),
    },
  ],
  [
    "[INC-32] CVE-2024-47806 Jenkins oic-auth: the token of another client was accepted",
    "aud",
    {
      other: claims({ aud: "other-client", azp: undefined }),
      list: claims({ aud: ["other-client"] }),
      both: claims({ aud: ["test-client", "other-client"] }),
    },
  ],
  [
    "[INC-32] CVE-2024-47807 Jenkins oic-auth: the token of another issuer was accepted",
    "iss",
    {
      other: claims({ iss: "https://evil.example" }),
      "a slash more": (draft) =>
        draft.sign(draft.header, { ...draft.claims, iss: `${String(draft.claims["iss"])}/` }),
      none: claims({ iss: undefined }),
    },
  ],
  [
    "[INC-33] CVE-2024-37568 Authlib: the public key served as the secret of a symmetrical signature",
    "alg",
    {
      "as PEM": hs256(({ publicKeyPem }) => publicKeyPem),
      "as PEM without the last line break": hs256(({ publicKeyPem }) => publicKeyPem.trimEnd()),
      "as DER": hs256(({ publicKeyPem }) =>
        createPublicKey(publicKeyPem).export({ type: "spki", format: "der" }),
      ),
      "as JWK": hs256(({ publicJwk }) => JSON.stringify(publicJwk)),
      "the modulus": hs256(({ publicJwk }) => Buffer.from(String(publicJwk["n"]), "base64url")),
      "the client secret": hs256((_draft, { provider }) => provider.clientSecret),
    },
  ],
  [
    "[INC-34] CVE-2025-59420 Authlib: a critical extension that nobody knew was passed over",
    "crit",
    {
      unknown: header({ crit: ["bork"], bork: true }),
      "b64 false": header({ crit: ["b64"], b64: false }),
      empty: header({ crit: [] }),
      "no list": header({ crit: "exp" }),
      "without its member": header({ crit: ["cnf"] }),
    },
  ],
  [
    "[INC-36] CVE-2026-27962 Authlib: the token's own header said which key to trust",
    "signature",
    {
      jwk: bySomebodyElse(() => ({ jwk: strangerJwk })),
      "jwk with the right kid": bySomebodyElse(() => ({
        jwk: { ...strangerJwk, use: "sig", alg: "RS256" },
      })),
      jku: bySomebodyElse((jwks) => ({ jku: jwks })),
      x5u: bySomebodyElse((jwks) => ({ x5u: jwks })),
      x5c: bySomebodyElse(() => ({
        x5c: [stranger.publicKey.export({ type: "spki", format: "der" }).toString("base64")],
      })),
    },
  ],
  [
    "[INC-31] CVE-2026-29000 pac4j-jwt: an encrypted token is not opened at all",
    "encrypted",
    {
      "encrypted for the client secret": encrypted,
      "encrypted for the provider's public key": (draft) =>
        new CompactEncrypt(Buffer.from(unsigned(draft)))
          .setProtectedHeader({ alg: "RSA-OAEP-256", enc: "A256GCM", cty: "JWT" })
          .encrypt(createPublicKey(draft.publicKeyPem)),
    },
  ],
  [
    "[INC-37] CVE-2024-28176 jose: a small encrypted token was unpacked to a huge one",
    "encrypted",
    { bomb },
  ],
  [
    "[INC-35] CVE-2025-61920 Authlib: a token of any size was decoded",
    "size",
    {
      "900 KB of signature": (draft) =>
        `${draft.sign(draft.header, draft.claims)}${"A".repeat(900_000)}`,
      "900 KB of header": (draft) =>
        draft.sign({ ...draft.header, filler: "A".repeat(650_000) }, draft.claims),
      "a million parts": (draft) =>
        `${draft.sign(draft.header, draft.claims)}${".".repeat(900_000)}`,
    },
  ],
];

describe("a forged ID token", () => {
  let application: Application;
  let failures: Events["failure"][];
  beforeAll(async () => {
    application = await startApplication();
    application.auth.on("failure", (event) => failures.push(event));
  });
  afterAll(() => application.stop());
  afterEach(() => {
    application.provider.mutateIdToken = undefined;
  });

  for (const [incident, reason, forged] of FORGERIES) {
    describe(incident, () => {
      it.each(Object.entries(forged))(
        "%s, at the callback and at a refresh",
        async (name, forge) => {
          failures = [];
          const { provider, clock } = application;
          const signedIn = application.user();
          await signedIn.signIn();
          const asked = provider.requests.length;
          provider.mutateIdToken = (draft) => forge(draft, application);

          const user = application.user();
          // What a wrong set-up can cause, too, is 503, and the session stays for the day when it is
          // corrected.
          const isSetUp =
            reason === "encrypted" || name === "both" || (reason === "iss" && name !== "none");
          expect((await user.signIn()).status).toBe(isSetUp ? 503 : 400);
          expect(await user.isSignedIn()).toBe(false);
          clock.advance(HOUR);
          expect((await signedIn.get("/idpauth/session")).json()).toMatchObject({
            authenticated: false,
            user: null,
          });
          expect(failures.map((failure) => failure.reason)).toEqual([
            `id_token_${reason}`,
            `id_token_${reason}`,
          ]);

          // Nobody was asked for a key but the provider's own key set, and the tokens were used for
          // nothing.
          const endpoints = provider.requests.slice(asked).map(({ endpoint }) => endpoint);
          expect(
            endpoints.filter((endpoint) => endpoint === "unknown" || endpoint === "userinfo"),
          ).toEqual([]);
          // The session was not switched either: with the provider honest again it is a new sign-in
          // that counts.
          if (isSetUp)
            await expect(
              application.auth.getCredentials(signedIn.request("/")),
            ).rejects.toMatchObject({ status: 503 });
          else expect(await application.auth.getCredentials(signedIn.request("/"))).toBeNull();
          clock.advance(60_000);
        },
      );
    });
  }

  it("[INC-35] CVE-2025-61920 Authlib: at the callback, too, a token of 5 MB signs nobody in", async () => {
    const { provider, clock } = application;
    failures = [];
    for (const grown of [
      (draft: IdTokenDraft) => `${draft.sign(draft.header, draft.claims)}${"A".repeat(5_000_000)}`,
      (draft: IdTokenDraft) =>
        draft.sign({ ...draft.header, filler: "A".repeat(3_700_000) }, draft.claims),
      (draft: IdTokenDraft) => `${draft.sign(draft.header, draft.claims)}${".".repeat(5_000_000)}`,
    ]) {
      const user = application.user();
      const callback = await user.approve();
      const before = provider.requests.length;
      const hold = provider.hold("token", { before: false });
      provider.mutateIdToken = grown;
      const answer = user.get(callback);
      await hold.arrived;
      hold.release();
      expect((await answer).status).toBe(503);
      provider.mutateIdToken = undefined;
      expect(await user.isSignedIn()).toBe(false);
      expect((await user.get(callback)).status).toBe(400);
      expect(provider.requests.slice(before).map(({ endpoint }) => endpoint)).toEqual(["token"]);
      clock.advance(60_000);
    }
    expect(failures).toHaveLength(6);
  });

  it("[INC-35] CVE-2025-61920 Authlib: a response with a token of 5 MB is left at its first megabyte", async () => {
    const { provider, clock } = application;
    failures = [];
    const user = application.user();
    await user.signIn();
    clock.advance(HOUR);
    provider.mutateIdToken = (draft) =>
      `${draft.sign(draft.header, draft.claims)}${"A".repeat(5_000_000)}`;
    // No verdict about the person: the provider could not be understood.
    expect((await user.get("/idpauth/session")).status).toBe(503);
    provider.mutateIdToken = undefined;
    clock.advance(60_000);
    expect(failures).toHaveLength(1);
  });
});

describe("[INC-38] CVE-2026-73418 GHSA-xmf8-cvqr-rfgj Auth.js: a malformed Authorization header threw where nobody caught it", () => {
  let app: ExpressApplication;
  const rejections: unknown[] = [];
  const note = (reason: unknown) => rejections.push(reason);
  beforeAll(async () => {
    process.on("unhandledRejection", note);
    app = await startExpressApplication({
      routes(express, auth) {
        express.get("/guarded", auth.idpRequired, (_request, response) => response.send("guarded"));
      },
    });
  });
  afterAll(async () => {
    process.off("unhandledRejection", note);
    await app.stop();
  });

  const PIECES = [
    "",
    " ",
    "Bearer",
    "Bearer ",
    "Basic",
    "Basic %%%",
    "Bearer a.b.c",
    "Bearer ey.ey.",
    "a,b",
    ";",
    "=",
    "idpauth=",
    "idpauth",
    "__Host-Http-idpauth=x",
    "%",
    "%zz",
    "%00",
    "%ff",
    "\xff\xfe",
    "\u00e9",
    '"',
    "\\",
    "<script>",
    "[::1",
    "a:b",
    "127.0.0.1:99999",
    "http://",
    "//",
    "{}",
    "null",
    "__proto__",
    "A".repeat(43),
    "x".repeat(3_000),
    "\t",
    ",,,",
    "q=1e999",
    "text/html;q=",
    "undefined",
    "../..",
    "\x7f",
  ];
  const NAMES = [
    "Authorization",
    "Cookie",
    "Host",
    "X-ORIGIN-URL",
    "Accept",
    "X-Forwarded-Host",
    "Purpose",
    "Sec-Fetch-Mode",
  ];
  const TARGETS = [
    "/idpauth/",
    "/idpauth/login/?scheme=PRESERVE_ORIGIN_HP&response=json",
    "/idpauth/session",
    "/idpauth/login-callback?state=x",
    "/idpauth/logout/",
    "/guarded",
  ];

  const GROWN: Readonly<Record<string, (piece: string) => string>> = {
    Authorization: (piece) => `Bearer ${piece}`,
    Cookie: (piece) => `idpauth=${piece}; ${piece}`,
  };

  it.each(NAMES)("%s", async (name) => {
    for (const target of TARGETS) {
      for (const piece of PIECES) {
        for (const value of name in GROWN ? [piece, GROWN[name]!(piece)] : [piece]) {
          const lines = [
            `GET ${target} HTTP/1.1`,
            ...(name === "Host" ? [] : ["Host: app.example"]),
            `${name}: ${value}`,
            "Connection: close",
          ];
          const { status } = await rawRequest(app.port, [...lines, "", ""].join("\r\n"));
          // Node itself refuses some with 400. An unknown Sec-Fetch-Mode is no click.
          const isRefused = name === "Sec-Fetch-Mode" && status === 503;
          expect([target, value, status, status >= 200 && (status < 500 || isRefused)]).toEqual([
            target,
            value,
            status,
            true,
          ]);
        }
      }
    }
    expect([app.caught, rejections]).toEqual([[], []]);
  });

  it("an Authorization header that is well-formed is not read either", async () => {
    const browser = app.browser();
    await browser.follow("/idpauth/login/");
    const token = app.provider.issued.find(({ kind }) => kind === "access_token")?.value ?? "";
    const stranger = app.browser();
    for (const value of [`Bearer ${token}`, `Bearer ${browser.cookies.value("idpauth") ?? ""}`]) {
      const answer = await stranger.get("/idpauth/session", { headers: { authorization: value } });
      expect(answer.json()).toEqual({ authenticated: false, user: null });
    }
    expect(
      (
        await browser.get("/idpauth/session", { headers: { authorization: "Bearer nonsense" } })
      ).json().authenticated,
    ).toBe(true);
  });
});

describe("[INC-39] CVE-2026-73421 GHSA-8fpg-xm3f-6cx3 next-auth: an error stood where the session should be, and passed for one", () => {
  type Break = (application: Application) => unknown;
  const BROKEN: Readonly<Record<string, Break>> = {
    "the client secret was changed at the provider": ({ provider }) =>
      (provider.settings.clientSecret = "another"),
    "the client is not known any more": ({ provider }) => (provider.settings.clientId = "another"),
    "the token endpoint is gone": ({ provider }) =>
      provider.fault("token", { kind: "status", status: 404 }),
    "the token endpoint answers 200 with an error": ({ provider }) =>
      (provider.tokenResponse = () => ({ error: "server_error" })),
    "the token endpoint answers 200 with null": ({ provider }) =>
      (provider.tokenResponse = () => null),
    "the token endpoint answers 200 with true": ({ provider }) =>
      (provider.tokenResponse = () => true),
    "the token endpoint answers an ID token that is no text": ({ provider }) =>
      (provider.tokenResponse = (answer) => ({ ...answer, id_token: {} })),
    "the ID token's claims are null": ({ provider }) =>
      (provider.mutateIdToken = ({ header: its, sign }) => sign(its, "null")),
    "the provider is gone": ({ provider }) => provider.pause(),
    "the provider refuses": ({ provider }) => provider.revokeAll(),
    "the keys are garbage": async ({ provider }) => {
      await provider.rotateKeys({ keepOld: false });
      provider.jwks.publishGarbage();
    },
  };

  it.each(Object.entries(BROKEN))("%s", async (_name, breakIt) => {
    const application = await startApplication();
    try {
      const user = application.user();
      await user.signIn();
      application.clock.advance(HOUR);
      await breakIt(application);
      for (const who of [user, application.user()])
        await expectNobody(application, () => who.request("/reports"));
      const other = application.user();
      expect(
        (await other.get("/idpauth/login/").then(() => other.get("/idpauth/session"))).json(),
      ).toEqual({
        authenticated: false,
        user: null,
      });
    } finally {
      application.provider.violations.length = 0;
      await application.stop();
    }
  });

  it("a configuration that is wrong throws at every use, and gives nothing", async () => {
    const application = await startApplication();
    try {
      const broken = application.another({ clientSecret: "", secretKey: "" });
      const request = application.user().request("/reports");
      for (const ask of [
        () => broken.getCredentials(request),
        () => broken.getSession(request),
        () => broken.readSessionRecord(request),
        () => broken.getAccessToken(request),
        () => broken.checkIdpAuthentication(request),
        () => broken.guard(request),
      ]) {
        await expect((async () => ask())()).rejects.toMatchObject({
          code: "configuration_invalid",
        });
      }
    } finally {
      await application.stop();
    }
  });

  /**
   * Every accessor says null, or rejects; the guard blocks. Asked twice: what the first did must
   * not let the second in.
   */
  async function expectNobody(
    { auth }: Application,
    request: () => ReturnType<ReturnType<Application["user"]>["request"]>,
  ): Promise<void> {
    for (let again = 0; again < 2; again += 1) {
      const blocked = await auth.guard(request());
      expect(blocked).toMatchObject({
        kind: expect.stringMatching(/^(?:unauthenticated|unavailable)$/) as string,
      });
      for (const ask of [auth.getCredentials, auth.getSession, auth.getAccessToken]) {
        const said = await ask(request()).then(
          (value) => ({ value }),
          (error: unknown) => ({ error }),
        );
        if ("value" in said) expect(said.value).toBeNull();
        else expect(said.error).toMatchObject({ status: 503 });
      }
      expect(await auth.checkIdpAuthentication(request())).toBe(false);
    }
  }
});
