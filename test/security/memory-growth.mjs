// How much more memory is in use after many probes, or logins that no user finishes: a process of
// its own, in which nothing else is kept.
// `node --expose-gc test/security/memory-growth.mjs probes`; prints bytes, and how many there were,
// as JSON.
import { generateKeyPairSync, sign } from "node:crypto";
import { createIdpAuth } from "idpauth/adapter";
import { memoryStore } from "idpauth";
import { TestClock } from "idpauth/testing";

const ORIGIN = "http://app.example";

const clock = new TestClock();
const ISSUER = "https://idp.example";
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const DOCUMENT = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  jwks_uri: `${ISSUER}/jwks`,
  revocation_endpoint: `${ISSUER}/revoke`,
  id_token_signing_alg_values_supported: ["EdDSA"],
  authorization_response_iss_parameter_supported: true,
};
const KEYS = {
  keys: [{ ...publicKey.export({ format: "jwk" }), kid: "k1", alg: "EdDSA", use: "sig" }],
};
const HEADER = base64({ alg: "EdDSA", kid: "k1" });

/** @param {object} value */
function base64(value) {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

let tokens = 0;

/**
 * A provider that remembers nothing, unlike the kit's: a code is the nonce that the ID token has to
 * hold.
 */
function answer(/** @type {string} */ path, /** @type {URLSearchParams} */ form) {
  if (path === "/.well-known/openid-configuration") return DOCUMENT;
  if (path === "/jwks") return KEYS;
  if (path === "/revoke") return {};
  const now = Math.floor(clock.now() / 1000);
  const nonce = form.get("code") ?? undefined;
  const claims = {
    iss: ISSUER,
    aud: "client",
    sub: "ada",
    email: "ada@example.com",
    iat: now,
    exp: now + 3600,
    nonce,
  };
  const input = `${HEADER}.${base64(claims)}`;
  const signature = sign(null, Buffer.from(input), privateKey).toString("base64url");
  tokens += 1;
  return {
    access_token: `at-${tokens}`,
    refresh_token: `rt-${tokens}`,
    token_type: "Bearer",
    expires_in: 3600,
    id_token: `${input}.${signature}`,
  };
}

const auth = createIdpAuth(
  {
    env: {
      SECRET_KEY: "a secret key of at least 32 bytes",
      BASE_URL: ORIGIN,
      IDP_ISSUER: ISSUER,
      IDP_CLIENT_ID: "client",
      IDP_CLIENT_SECRET: "secret",
      SCOPE: "openid offline_access",
      IDP_SESSION_IDLE_TIMEOUT: "7200",
    },
    fetch: async (input, init) => {
      const request = new Request(input, init);
      return Response.json(
        answer(new URL(request.url).pathname, new URLSearchParams(await request.text())),
      );
    },
    store: memoryStore({ clock, maxSessions: 200_000 }),
    clock,
    log: () => undefined,
  },
  { name: "plain", request: (/** @type {import("idpauth").IdpRequest} */ request) => request },
);
auth.start();

/**
 * @param {string} target
 * @param {string} [cookie]
 */
async function get(target, cookie) {
  const reply = await auth.handle({
    method: "GET",
    target,
    scheme: "http",
    host: new URL(ORIGIN).host,
    header: (name) => (name === "cookie" ? cookie : undefined),
  });
  if (reply === undefined) throw new Error(`${target} is not answered`);
  return reply;
}

/** @param {{ readonly setCookies?: readonly string[] }} reply */
const cookieOf = ({ setCookies = [] }) => setCookies[0]?.split(";")[0] ?? "";

async function signIn() {
  const login = await get("/idpauth/login/");
  const asked = new URL(login.headers["Location"] ?? "").searchParams;
  const query = new URLSearchParams({
    state: asked.get("state") ?? "",
    code: asked.get("nonce") ?? "",
    iss: ISSUER,
  });
  return cookieOf(await get(`/idpauth/login-callback?${query.toString()}`, cookieOf(login)));
}

/** How many collections in a row must free nothing more, and how many are made at most. */
const QUIET = 10;
const COLLECTIONS = 300;

/**
 * Bytes in use once further collections free nothing more: on the heap and outside it, such as
 * buffers.
 */
async function inUse() {
  const { gc } = globalThis;
  if (gc === undefined) throw new Error("node --expose-gc is needed");
  let least = Infinity;
  // Finalizers run between collections and free more; on a busy machine some of them wait for
  // seconds.
  for (let quiet = 0, made = 0; quiet < QUIET && made < COLLECTIONS; quiet += 1, made += 1) {
    gc();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const { heapUsed, external } = process.memoryUsage();
    const used = heapUsed + external;
    if (used < least - 50_000) quiet = 0;
    least = Math.min(least, used);
  }
  return least;
}

/** Never the same twice, so that a table by cookie grows in every round. */
let strangers = 0;
const strange = () => `idpauth=${String((strangers += 1)).padStart(43, "A")}`;

const ROUNDS = {
  /**
   * Half of a user who is signed in, half of strangers with a cookie each that leads nowhere. The
   * user's tokens are refreshed.
   */
  async probes() {
    const member = await signIn();
    return async () => {
      for (let probe = 0; probe < 50_000; probe += 1) {
        await get("/idpauth/session", strange());
        if (probe % 1_000 === 0) clock.advance(60_000);
        const { body } = await get("/idpauth/session", member);
        if (typeof body !== "string" || !body.includes('"authenticated":true'))
          throw new Error("the member is signed out");
      }
    };
  },
  /** And then the time after which they lapse. */
  async logins() {
    return async () => {
      for (let login = 0; login < 25_000; login += 1) await get("/idpauth/login/");
      await clock.advanceAsync(700_000);
    };
  },
};

/** @type {Record<string, { rounds: number, of: number }>} */
const PLAN = { probes: { rounds: 10, of: 100_000 }, logins: { rounds: 4, of: 25_000 } };

const what = /** @type {keyof typeof ROUNDS} */ (process.argv[2]);
const { rounds, of } = PLAN[what] ?? { rounds: 0, of: 1 };
const round = await ROUNDS[what]();
await round();
const warm = await inUse();
for (let more = 0; more < rounds; more += 1) await round();
const growth = (await inUse()) - warm;
console.log(JSON.stringify({ growth, of: rounds * of }));
