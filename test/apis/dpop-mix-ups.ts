// Many users' calls to several APIs, at once and from several processes, with an API that knows whose
// key and whose nonce each proof may have. Chance decides who calls what, which nonces rotate, which
// tokens are rejected, and how long each response takes.
import { createHash, webcrypto } from "node:crypto";
import { setImmediate as turn } from "node:timers/promises";
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, type JWK } from "jose";
import { expect } from "vitest";
import type { IdpAuth } from "../../src/adapter.js";
import type { IdpRequest } from "../../src/index.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { Random } from "../guarantees/random.js";
import { startApplication, type Application, type TestUser } from "../support/application.js";
import { SealingStore } from "../support/sealing-store.js";
import { whileTimePasses } from "../support/while-time-passes.js";

const PROCESSES = 3;
const APIS = ["orders", "billing", "stock"] as const;
/** Calls at a time. */
const AT_ONCE = 64;
/** After so many calls, the time passes in which tokens expire. */
const ROUND = 10_000;
const ROUND_MS = 1_300_000;
/** Seconds by which a proof's time may differ: a call waits for a refresh. */
const SKEW = 120;

/** What came of a run. */
export interface MixUps {
  /** What was wrong, at most one of a kind. */
  readonly wrong: ReadonlySet<string>;
  readonly proofs: number;
  readonly demands: number;
  readonly rejections: number;
  readonly refreshes: number;
  readonly keys: number;
  /** Statuses that callers got, with how often. */
  readonly statuses: Readonly<Record<string, number>>;
}

export interface MixUpsOptions {
  readonly users: number;
  readonly calls: number;
  readonly seed: number;
}

/** Makes calls, and checks every proof. */
export async function mixUps({ users: howMany, calls, seed }: MixUpsOptions): Promise<MixUps> {
  const random = new Random(seed);
  const clock = new TestClock();
  const world = new Apis(random, clock);
  const real = globalThis.fetch;
  globalThis.fetch = (input, init) => world.respond(input, init) ?? real(input, init);
  let application: Application | undefined;
  try {
    application = await startApplication({
      ...{ clock, store: new SealingStore(clock), dpop: true },
      apis: Object.fromEntries(APIS.map((name) => [name, rowOf(name)])),
      provider: { dpop: "required", dpopNonce: "always", dpopBoundRefreshTokens: true },
    });
    const users = await signInAll(application, howMany);
    const { another } = application;
    const processes = Array.from({ length: PROCESSES }, () => another());
    const statuses: Record<string, number> = {};
    for (let made = 0; made < calls; made += ROUND) {
      const round = {
        random,
        users,
        processes,
        world,
        statuses,
        count: Math.min(ROUND, calls - made),
      };
      await whileTimePasses(clock, callAll(round), 5);
      clock.advance(ROUND_MS);
    }
    return { ...world.outcome(application), statuses };
  } finally {
    globalThis.fetch = real;
    await application?.stop();
  }
}

/** Fails if anything was mixed up, or if nothing could have been. Prints what has happened. */
export async function expectNoMixUps(options: MixUpsOptions): Promise<void> {
  const { users, calls } = options;
  const started = performance.now();
  const { user, system } = process.cpuUsage();
  const { wrong, statuses, ...counts } = await mixUps(options);
  const cpu = process.cpuUsage();
  const seconds = Math.round((performance.now() - started) / 1000);
  const busy = Math.round((cpu.user - user + cpu.system - system) / 1e6);
  const line = JSON.stringify({ ...options, seconds, busy, ...counts, statuses });
  process.stdout.write(`${line}\n`);
  expect([...wrong]).toEqual([]);
  expect(counts.keys).toBe(users);
  expect(counts.proofs).toBeGreaterThan(calls);
  expect(counts.demands).toBeGreaterThan(calls / 500);
  expect(counts.refreshes).toBeGreaterThanOrEqual(users * APIS.length);
  const { 401: unmet = 0, ...others } = statuses;
  expect(Object.keys(others).sort()).toEqual(["200", "own client"]);
  // The nonce was replaced again before the repetition came, or there was no other token.
  expect(unmet).toBeLessThan(calls / 50);
}

/** Two of them are at one origin. */
function rowOf(name: string) {
  const host = name === "stock" ? "stock.internal" : "shared.internal";
  return { url: `https://${host}/${name}/`, resource: `https://${name}.example.com` };
}

function apiAt({ pathname }: URL): string {
  return pathname.split("/")[1] ?? "";
}

async function signInAll({ user }: Application, howMany: number): Promise<TestUser[]> {
  const users: TestUser[] = [];
  for (let number = 0; number < howMany; number += 1) {
    const one = user();
    await one.signIn(undefined, { sub: String(number), email: `${String(number)}@example.com` });
    users.push(one);
  }
  return users;
}

interface Round {
  readonly random: Random;
  readonly users: readonly TestUser[];
  readonly processes: readonly IdpAuth<IdpRequest>[];
  readonly world: Apis;
  readonly statuses: Record<string, number>;
  readonly count: number;
}

async function callAll(round: Round): Promise<void> {
  let left = round.count;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const status = await callOnce(round);
      round.statuses[status] = (round.statuses[status] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

/** One call: nine in ten by `fetchApi`, the others by a client of the application's own. */
async function callOnce({ random, users, processes, world }: Round): Promise<string> {
  const number = random.below(users.length);
  const auth = random.pick(processes);
  const api = random.pick(APIS);
  const request = users[number]!.request("/");
  try {
    if (!random.chance(0.1))
      return String((await auth.fetchApi(request, api, String(number))).status);
    const accessToken = await auth.getAccessToken(request, { api });
    if (accessToken === null) return "signed out";
    const url = `${rowOf(api).url}${String(number)}?query`;
    const nonce = world.nonceOf(api);
    const proof = await auth.dpopProof(request, { method: "GET", url, accessToken, nonce });
    await world.check(new URL(url), `DPoP ${accessToken}`, proof ?? "");
    return "own client";
  } catch (error) {
    return String((error as { readonly code?: unknown }).code ?? error);
  }
}

type Verified = Readonly<Record<string, unknown>> & { readonly jkt: string };

/** The APIs. Each accepts only its own newest nonce. */
class Apis {
  readonly #random: Random;
  readonly #clock: TestClock;
  readonly #nonces = new Map<string, number>();
  /** The thumbprints of each user's keys. */
  readonly #keys = new Map<string, Set<string>>();
  readonly #imported = new Map<string, Promise<webcrypto.CryptoKey>>();
  readonly #used = new Set<string>();
  readonly #wrong = new Set<string>();
  #demands = 0;
  #rejections = 0;

  constructor(random: Random, clock: TestClock) {
    this.#random = random;
    this.#clock = clock;
  }

  nonceOf(api: string): string {
    return `${api}-${String(this.#nonces.get(api) ?? 0)}`;
  }

  /** Responds to a request to an API. Undefined: it is for another server. */
  respond(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> | undefined {
    const url = new URL(String(input));
    return url.hostname.endsWith(".internal")
      ? this.#respond(url, new Headers(init?.headers))
      : undefined;
  }

  async #respond(url: URL, headers: Headers): Promise<Response> {
    const api = apiAt(url);
    await this.#turns();
    const token = headers.get("authorization") ?? "";
    const proof = await this.check(url, token, headers.get("dpop") ?? "");
    if (this.#random.chance(0.002)) this.#nonces.set(api, (this.#nonces.get(api) ?? 0) + 1);
    const isCurrent = proof["nonce"] === this.nonceOf(api);
    const isRejected = isCurrent && this.#random.chance(0.001);
    const nonce = { "dpop-nonce": this.nonceOf(api) };
    await this.#turns();
    if (!isCurrent) {
      this.#demands += 1;
      const challenge = { "www-authenticate": 'DPoP error="use_dpop_nonce"' };
      return new Response(null, { status: 401, headers: { ...nonce, ...challenge } });
    }
    if (!isRejected) return Response.json({}, { headers: nonce });
    this.#rejections += 1;
    const challenge = { "www-authenticate": 'DPoP error="invalid_token"' };
    return new Response(null, { status: 401, headers: { ...nonce, ...challenge } });
  }

  /** Checks that user, key, token, nonce and API belong together. Returns the proof's claims. */
  async check(url: URL, authorization: string, proof: string): Promise<Verified> {
    const [scheme = "", token = ""] = authorization.split(" ");
    const api = apiAt(url);
    const user = url.pathname.split("/").at(-1) ?? "";
    const claims = await this.#verified(proof);
    const { sub, aud, cnf } = decodeJwt<{ cnf?: { jkt?: string } }>(token);
    const { jti, nonce, htm, htu, ath, iat, jkt } = claims;
    const keys = this.#keys.get(user) ?? new Set();
    this.#keys.set(user, keys.add(jkt));
    this.#is(scheme === "DPoP", "a bound token is sent as a bearer token");
    this.#is(sub === user, "another user's token");
    this.#is(aud === `https://${api}.example.com`, "another API's token");
    this.#is(cnf?.jkt === jkt, "another key than the token's");
    this.#is(
      nonce === undefined || String(nonce).startsWith(`${api}-`),
      `a nonce of another server: ${String(nonce)} at ${api}`,
    );
    this.#is(!this.#used.has(String(jti)), "a proof that was used before");
    this.#used.add(String(jti));
    this.#is(htm === "GET" && htu === `${url.origin}${url.pathname}`, "another request's proof");
    const digest = createHash("sha256").update(token).digest("base64url");
    this.#is(ath === digest, "another token's proof");
    const age = Math.abs(this.#clock.now() / 1000 - Number(iat));
    this.#is(age < SKEW, "a proof of another time");
    return claims;
  }

  outcome({ provider }: Application): Omit<MixUps, "statuses"> {
    const refreshes = provider.requestsTo("token", { grant_type: "refresh_token" });
    for (const { headers } of provider.requestsTo("token")) {
      const { nonce = "" } = decodeJwt<{ nonce?: string }>(String(headers["dpop"]));
      this.#is(!APIS.some((api) => nonce.startsWith(`${api}-`)), "an API's nonce at the provider");
    }
    const keys = [...this.#keys.values()].flatMap((one) => [...one]);
    this.#is(new Set(keys).size === keys.length, "two users have the same key");
    this.#is(
      [...this.#keys.values()].every(({ size }) => size === 1),
      "a session has two keys",
    );
    return {
      wrong: this.#wrong,
      proofs: this.#used.size,
      demands: this.#demands,
      rejections: this.#rejections,
      refreshes: refreshes.length,
      keys: keys.length,
    };
  }

  async #verified(proof: string): Promise<Verified> {
    const [header = "", payload = "", signature = ""] = proof.split(".");
    const { jwk = {} } = decodeProtectedHeader(proof) as { readonly jwk?: JWK };
    const jkt = await calculateJwkThumbprint(jwk);
    const known = this.#imported.get(jkt) ?? imported(jwk);
    this.#imported.set(jkt, known);
    const isSigned = await webcrypto.subtle.verify(
      { name: "ECDSA", hash: "SHA-256" },
      await known,
      Buffer.from(signature, "base64url"),
      Buffer.from(`${header}.${payload}`),
    );
    this.#is(isSigned, "a proof that its key hasn't signed");
    return { ...decodeJwt(proof), jkt };
  }

  #is(isRight: boolean, otherwise: string): void {
    if (!isRight) this.#wrong.add(otherwise);
  }

  async #turns(): Promise<void> {
    for (let left = this.#random.below(4); left > 0; left -= 1) await turn();
  }
}

function imported(jwk: JWK): Promise<webcrypto.CryptoKey> {
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  return webcrypto.subtle.importKey("jwk", jwk as webcrypto.JsonWebKey, algorithm, true, [
    "verify",
  ]);
}
