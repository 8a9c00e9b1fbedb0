import { inspect } from "node:util";
import fc from "fast-check";
import { expect } from "vitest";
import { IdpAuthError, ProviderRefusedError, ProviderUnavailableError } from "../../src/errors.js";
import { EventHub } from "../../src/events/event-hub.js";
import { signedIn } from "../../src/record/pending-logins.js";
import type { LogEntry } from "../../src/events/log.js";
import { EMPTY_RECORD } from "../../src/record/record.js";
import { parseRecord, storedForm } from "../../src/record/stored-form.js";
import { createOpenIdProvider } from "../../src/provider/openid-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { fuzz } from "./fuzz.js";
import {
  CLIENT_ID,
  CLIENT_SECRET,
  ISSUER,
  MemoryProvider,
  PERSON,
  SECRETS,
  type AnsweringEndpoint,
  type MemoryAnswer,
} from "./memory-provider.js";
import { jsonMutation, mutatedJson, type JsonMutation } from "./mutations.js";

const REDIRECT_URI = "https://app.example/idpauth/login-callback";
const NONCE = "the-nonce-of-this-login";
const VERIFIER = "v".repeat(43);
const NAMES = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};
const never = new AbortController().signal;

const headers = fc.dictionary(
  fc.constantFrom(
    "content-type",
    "retry-after",
    "location",
    "content-encoding",
    "www-authenticate",
    "set-cookie",
  ),
  fc.oneof(
    fc.constantFrom("application/json", "text/html", "application/jwt", "application/json;charset=utf-16", "", "0", "-1", "1e9", "99999999999999", "Sun, 06 Nov 2044 08:49:37 GMT", "x, y", ISSUER), // prettier-ignore
    fc.stringMatching(/^[\x21-\x7e]{0,12}$/),
  ),
  { maxKeys: 3 },
);

interface Change {
  readonly endpoint: AnsweringEndpoint;
  readonly body: JsonMutation;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

const change: fc.Arbitrary<Change> = fc.record({
  endpoint: fc.constantFrom("discovery", "token", "token", "jwks", "userinfo"),
  body: jsonMutation,
  status: fc.oneof(
    { weight: 8, arbitrary: fc.constant(200) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(201, 204, 302, 304, 400, 401, 403, 404, 418, 429, 500, 503, 599),
    },
  ),
  headers: fc.oneof(
    { weight: 2, arbitrary: fc.constant({ "content-type": "application/json" }) },
    { weight: 1, arbitrary: headers },
  ),
});

function changedAnswer(
  answer: MemoryAnswer,
  { body, status, headers: lines }: Change,
): MemoryAnswer {
  return { status, headers: lines, body: mutatedJson(JSON.parse(answer.body), body) };
}

/** The outcome, or the error, which must be one of the two that the ports know. */
async function outcomeOf<Outcome>(
  work: () => Promise<Outcome>,
  texts: string[],
): Promise<Outcome | undefined> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ProviderRefusedError) && !(error instanceof ProviderUnavailableError))
      throw error;
    expect(error).toBeInstanceOf(IdpAuthError);
    expect(error.reason).toMatch(/^[a-z0-9_]{1,64}$/);
    if (error instanceof ProviderUnavailableError) {
      expect(error.retryAfter).toBeGreaterThanOrEqual(1);
      expect(error.retryAfter).toBeLessThanOrEqual(60);
    }
    texts.push(error.message, error.stack ?? "", inspect(error.cause));
    return undefined;
  }
}

fuzz({
  id: "FUZZ-7",
  target: "provider answers",
  runs: 200,
  property: fc.asyncProperty(
    fc.array(change, { minLength: 1, maxLength: 3 }),
    fc.boolean(),
    fc.boolean(),
    async (changes, hasClaims, always) => {
      const clock = new TestClock();
      const idp = new MemoryProvider(clock);
      const log: LogEntry[] = [];
      const texts: string[] = [];
      const provider = createOpenIdProvider({
        settings: {
          clientId: CLIENT_ID,
          clientSecret: CLIENT_SECRET,
          privateKey: null,
          certificate: null,
          clientCertificate: null,
          clientCertificateKey: null,
          appleTeamId: null,
          appleKeyId: null,
          clientAssertionAudience: null,
          requestAuthTime: null,
          issuer: ISSUER,
          scope: ["openid", "email", "profile"],
          scopeIsDefault: true,
          debug: false,
          httpTimeout: 5,
          refreshConcurrency: 20,
          tokenEndpointAuthMethod: "client_secret_post",
          loginPrompt: null,
          logoutAtProvider: false,
          backchannelLogout: false,
          frontchannelLogout: false,
          authorizationParams: {},
          trustedAudiences: [],
          idTokenSignedResponseAlg: null,
          responseMode: "query",
          signedRequests: "when-required",
          dpop: false,
          fapi: null,
          sessionAutoRefresh: true,
          pushedRequests: "when-required",
          providerMetadata: {},
          discoveryUrl: null,
          refreshWithoutIdToken: "userinfo",
          userinfo: always ? "always" : "when-needed",
          allowedTenants: null,
          clockTolerance: 5,
        },
        clock,
        events: new EventHub((entry) => log.push(entry), clock),
        fetch: idp.fetch,
        random: () => 1,
      });
      idp.nonce = NONCE;
      idp.person = hasClaims ? PERSON : { sub: PERSON.sub };
      idp.change = (endpoint, answer) =>
        changes.filter((each) => each.endpoint === endpoint).reduce(changedOrText, answer);

      const address = await outcomeOf(
        () =>
          provider.authorizationUrl({
            redirectUri: REDIRECT_URI,
            state: "s",
            nonce: NONCE,
            verifier: VERIFIER,
          }),
        texts,
      );
      if (address !== undefined) {
        const { url } = address;
        const { protocol, searchParams } = new URL(url);
        expect(protocol).toBe("https:");
        expect(searchParams.getAll("redirect_uri")).toEqual([REDIRECT_URI]);
        for (const name of ["client_id", "state", "nonce", "code_challenge", "scope"])
          expect(searchParams.getAll(name)).toHaveLength(1);
        expect(url).not.toContain(CLIENT_SECRET);
      }
      const signIn = await outcomeOf(
        () =>
          provider.exchange({
            code: "code",
            redirectUri: REDIRECT_URI,
            nonce: NONCE,
            verifier: VERIFIER,
          }),
        texts,
      );
      if (signIn !== undefined) {
        // Whatever else was changed, only the signed token says who this is.
        expect([signIn.idInfo.iss, signIn.idInfo.sub, signIn.idInfo["nonce"]]).toEqual([
          ISSUER,
          PERSON.sub,
          NONCE,
        ]);
        expect(
          typeof signIn.credentials.token === "string" && signIn.credentials.token !== "",
        ).toBe(true);
        if (signIn.accessTokenExpiresAt !== undefined)
          expect(Number.isSafeInteger(signIn.accessTokenExpiresAt)).toBe(true);
        // What a provider says can always be stored, and read again.
        const login = {
          state: "s",
          nonce: NONCE,
          verifier: VERIFIER,
          final_redirect: "/",
          redirect_uri: REDIRECT_URI,
          issuer: ISSUER,
          started_at: 0,
        };
        const record = signedIn(EMPTY_RECORD, {
          signIn,
          login,
          now: 1_800_000_000,
          stampsActivity: true,
        });
        const stored = JSON.stringify(storedForm(record, NAMES));
        expect(
          JSON.stringify(storedForm(parseRecord(JSON.parse(stored), NAMES) ?? EMPTY_RECORD, NAMES)),
        ).toBe(stored);

        idp.nonce = undefined;
        const request = {
          refreshToken: signIn.credentials.refresh_token ?? "x",
          session: "session",
          signal: never,
        };
        const spent = await outcomeOf(() => provider.refresh(request), texts);
        const renewed =
          spent && (await outcomeOf(() => provider.verifyRefreshed(spent, record, request), texts));
        if (renewed !== undefined)
          expect([renewed.idInfo.iss, renewed.idInfo.sub]).toEqual([ISSUER, PERSON.sub]);
      }
      expect(typeof (await provider.revoke("rt", "refresh_token"))).toBe("boolean");
      const said = JSON.stringify(log) + texts.join("\n");
      for (const secret of SECRETS) expect(said).not.toContain(secret);
      expect(clock.pendingTimers).toBe(0);
    },
  ),
});

function changedOrText(answer: MemoryAnswer, each: Change): MemoryAnswer {
  try {
    return changedAnswer(answer, each);
  } catch (error) {
    // The change before has left no JSON.
    if (error instanceof SyntaxError)
      return { ...answer, status: each.status, headers: each.headers };
    throw error;
  }
}
