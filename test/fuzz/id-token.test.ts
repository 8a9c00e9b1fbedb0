import { verify as verifySignature, createPublicKey } from "node:crypto";
import fc from "fast-check";
import { expect } from "vitest";
import { EventHub } from "../../src/events/event-hub.js";
import { ProviderRefusedError, ProviderUnavailableError } from "../../src/errors.js";
import { checkNonce, verifyIdToken } from "../../src/provider/id-token.js";
import { createJwks } from "../../src/provider/key-fetches.js";
import { createClientAuthentication } from "../../src/provider/client-authentication.js";
import { createProviderConnection } from "../../src/provider/provider-connection.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { fuzz } from "./fuzz.js";
import { ACCESS_TOKEN, CLIENT_ID, ISSUER, MemoryProvider, PERSON } from "./memory-provider.js";
import { jsonMutation, mutatedJson, type TextEdit, textEdit, edited } from "./mutations.js";

const NONCE = "the-nonce-of-this-login";
const clock = new TestClock();
const idp = new MemoryProvider(clock);
idp.nonce = NONCE;
const NOW = Math.floor(clock.now() / 1000);
const publicKey = createPublicKey({ key: idp.jwks.keys[0] as never, format: "jwk" });
const settings = {
  clientCertificate: null,
  issuer: ISSUER,
  clientId: CLIENT_ID,
  clientSecret: "unused",
  httpTimeout: 5,
} as ProviderSettings;
const events = new EventHub(() => undefined, clock);

const expected = {
  issuer: ISSUER,
  clientId: CLIENT_ID,
  trustedAudiences: ["a-trusted-audience"],
  algorithms: ["EdDSA", "RS256", "ES256"],
  newerAlgorithms: () => Promise.resolve(["EdDSA", "RS256", "ES256"]),
  accessToken: ACCESS_TOKEN,
  now: NOW,
  clockTolerance: 5,
};

/** What OpenID Connect Core section 3.1.3.7 lets pass, written down a second time. */
function isGood(token: string): boolean {
  const parts = token.split(".");
  if (parts.length !== 3 || token.length > 256 * 1024) return false;
  const [header, claims] = parts.slice(0, 2).map((part) => {
    try {
      return JSON.parse(Buffer.from(part, "base64url").toString("utf8")) as Record<string, unknown>;
    } catch {
      return undefined;
    }
  });
  if (!isObject(header) || !isObject(claims)) return false;
  const isSigned = verifySignature(
    null,
    Buffer.from(parts.slice(0, 2).join(".")),
    publicKey,
    Buffer.from(parts[2] ?? "", "base64url"),
  );
  const { alg, kid, typ, crit, b64 } = header;
  const { iss, sub, aud, azp, exp, iat, nbf, nonce, at_hash: hash } = claims;
  const audiences: unknown[] = Array.isArray(aud) ? aud : [aud];
  const isTime = (value: unknown): value is number =>
    typeof value === "number" && value >= 0 && value <= 253_402_300_799;
  return (
    isSigned &&
    alg === "EdDSA" &&
    (kid === undefined || typeof kid === "string") &&
    (typ === undefined || (typeof typ === "string" && typ.toLowerCase() === "jwt")) &&
    crit === undefined &&
    b64 === undefined &&
    iss === ISSUER &&
    typeof sub === "string" &&
    sub.length > 0 &&
    sub.length <= 255 &&
    audiences.includes(CLIENT_ID) &&
    audiences.every((audience) => audience === CLIENT_ID || audience === "a-trusted-audience") &&
    (azp === undefined ? audiences.length === 1 : azp === CLIENT_ID) &&
    isTime(exp) &&
    exp > NOW - 5 &&
    isTime(iat) &&
    iat <= NOW + 5 &&
    (nbf === undefined || (isTime(nbf) && nbf <= NOW + 5)) &&
    nonce === NONCE &&
    // An empty one counts as absent: some providers send it so.
    (hash === undefined || hash === "" || hash === idp.claims()["at_hash"])
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const token = fc
  .record({
    header: fc.oneof(
      { weight: 2, arbitrary: fc.constant({ edits: [], text: [] }) },
      { weight: 1, arbitrary: jsonMutation },
    ),
    claims: jsonMutation,
    // Changes after signing, to the finished text.
    text: fc.oneof(
      { weight: 3, arbitrary: fc.constant<TextEdit[]>([]) },
      { weight: 1, arbitrary: fc.array(textEdit(["=", ".", "AA"]), { maxLength: 2 }) },
    ),
  })
  .map(({ header, claims, text }) =>
    text.reduce(
      edited,
      idp.sign(
        mutatedJson(idp.header, header),
        mutatedJson({ ...idp.claims(), azp: CLIENT_ID }, claims),
      ),
    ),
  );

fuzz({
  id: "FUZZ-8",
  target: "ID token",
  runs: 800,
  kept: [
    {
      why: "a kid that no published key has is not an outage of the key set, but has a reason of its own",
      input: [
        idp.sign(
          JSON.stringify({ ...idp.header, kid: "not-published" }),
          JSON.stringify({ ...idp.claims(), azp: CLIENT_ID }),
        ),
      ],
      mark: '"kid":"not-published"',
    },
  ],
  shown: ([text]) => Buffer.from(text?.split(".")[0] ?? "", "base64url").toString("utf8"),
  property: fc.asyncProperty(token, async (text) => {
    const connection = createProviderConnection(
      { settings, clock, events, fetch: idp.fetch, random: () => 1 },
      createClientAuthentication({ settings, clock }),
    );
    const jwks = createJwks(connection, () => Promise.resolve(`${ISSUER}/jwks`));
    try {
      const { claims, doubts } = await verifyIdToken(text, expected, {
        jwks,
        checkFlow: (found) => {
          checkNonce(found, NONCE);
          return [];
        },
      });
      expect(isGood(text), doubts.length === 0 ? "accepted" : "in doubt").toBe(doubts.length === 0);
      if (doubts.length > 0) return;
      expect([claims.iss, claims["nonce"]]).toEqual([ISSUER, NONCE]);
    } catch (error) {
      if (error instanceof ProviderRefusedError) {
        expect(error.reason).toMatch(/^id_token_[a-z_]+$/);
        expect(error.message).not.toContain(PERSON.email);
      } else if (error instanceof ProviderUnavailableError) {
        expect(error.reason, "names a key that the issuer has not published").toMatch(
          /^(jwks|unknown_key)$/,
        );
      } else throw error;
    }
  }),
});
