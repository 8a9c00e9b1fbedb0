// An application whose tokens are bound to keys, with a provider that checks each proof.
import { decodeJwt } from "jose";
import { expect } from "vitest";
import type { IdpAuth } from "../../src/adapter.js";
import type { IdpAuthOptions, IdpRequest } from "../../src/index.js";
import type { ReceivedRequest } from "../../src/testing/provider/test-provider.js";
import { createSealer } from "../../src/sessions/seal.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  startApplication,
  type Application,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { openedRecord, storedUnder } from "../support/opened-record.js";
import { SealingStore } from "../support/sealing-store.js";
import { whileTimePasses } from "../support/while-time-passes.js";

const SECRET_KEY = "a secret key of at least 32 bytes";
/** After it, the ID token of a sign-in has expired. */
const EXPIRED_MS = 3_601_000;
/** Milliseconds of the clock for each turn of a wait. A whole refresh takes less than its lease. */
const STEP_MS = 5;

export interface Scene extends Application {
  readonly store: SealingStore;
  /** A user whose ID token has expired. */
  expired(): Promise<TestUser>;
  /** The refreshes that the provider has received, those with a wrong nonce among them. */
  requests(): readonly ReceivedRequest[];
  /** Whether a refresh has a nonce that was just demanded: no request before it had the same one. */
  isRepetition(request: ReceivedRequest): boolean;
  /** How many refreshes have brought tokens. */
  spent(): number;
  /** Another process, which knows no nonce. */
  cold(overrides?: Partial<IdpAuthOptions>): IdpAuth<IdpRequest>;
  /** Lets the ID tokens expire, and back-offs end. */
  expire(): void;
  /** The stored record of a user, as text. */
  recordOf(user: TestUser): Promise<string>;
  /** Changes the stored record of a user, as one with SECRET_KEY could. */
  tamper(user: TestUser, change: (record: string) => string): Promise<void>;
  /** Waits for work of several processes, which wait for each other by the clock. */
  settled<Result>(work: Promise<Result>): Promise<Result>;
}

let running: Application | undefined;

/** Ends the scene of a test. For `afterEach`. */
export async function endScene(): Promise<void> {
  const ended = running;
  running = undefined;
  await ended?.stop();
}

/** Starts an application whose provider demands a proof, and a nonce of its own in each refresh. */
export async function startScene({
  provider = {},
  ...options
}: ApplicationOptions = {}): Promise<Scene> {
  const clock = new TestClock();
  const store = new SealingStore(clock);
  const bound = { dpop: "required", dpopNonce: "refresh", ...provider } as const;
  const application = await startApplication({
    ...{ clock, store, dpop: true },
    ...options,
    provider: bound,
  });
  running = application;
  let spent = 0;
  application.provider.tokenResponse = (answer, { params }) => {
    if (params.get("grant_type") === "refresh_token") spent += 1;
    return answer;
  };
  const requests = () => application.provider.requestsTo("token", { grant_type: "refresh_token" });
  return {
    ...application,
    store,
    async expired() {
      const user = application.user();
      await user.signIn();
      clock.advance(EXPIRED_MS);
      return user;
    },
    requests,
    isRepetition(request) {
      const nonce = nonceOf(request);
      const isKnown = requests().some((one) => one !== request && nonceOf(one) === nonce);
      return (
        request.params.get("grant_type") === "refresh_token" && nonce !== undefined && !isKnown
      );
    },
    spent: () => spent,
    cold: (overrides = {}) => application.another(overrides),
    expire: () => clock.advance(EXPIRED_MS),
    async recordOf(user) {
      const cookie = user.cookies.get("idpauth") ?? "";
      return openedRecord(await store.peek(storedUnder(cookie)), cookie);
    },
    async tamper(user, change) {
      const cookie = user.cookies.get("idpauth") ?? "";
      const key = storedUnder(cookie);
      const changed = change(openedRecord(await store.peek(key), cookie));
      await store.tamper(key, () => createSealer(SECRET_KEY, []).seal(changed, cookie, key));
    },
    settled: (work) => whileTimePasses(clock, work, STEP_MS),
  };
}

/** Returns the nonce of a request's proof. */
export function nonceOf({ headers }: Pick<ReceivedRequest, "headers">): unknown {
  const proof = headers["dpop"];
  return proof === undefined ? undefined : decodeJwt(String(proof))["nonce"];
}

/** Whether the user is signed in. Fails in an outage, which says nothing about the session. */
export async function isSignedIn(user: TestUser): Promise<boolean> {
  const reply = await user.get("/idpauth/session");
  expect(reply.status, reply.body as string).toBe(200);
  return (reply.json() as { authenticated: boolean }).authenticated;
}

/** The status of the session endpoint: 503 in an outage. */
export async function statusFor(user: TestUser): Promise<number> {
  return (await user.get("/idpauth/session")).status;
}
