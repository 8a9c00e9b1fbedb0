// Where the situations play: a provider, an API, a Redis, and one or two processes of the peer's
// application behind one origin.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { CookieBrowser, startTestProvider } from "idpauth/testing";
import { startDatabase } from "../../scripts/interop/keycloak/postgres.mjs";
import { freePort, startProgram } from "../../scripts/interop/processes.mjs";
import { needProgram } from "../../scripts/debian-program.mjs";
import { startApi } from "./api.mjs";
import { startFront } from "./front.mjs";
import { mayRecover, outcomeOf, wordsOf } from "./outcomes.mjs";
import { startInstance } from "./processes.mjs";

/** Lifetime of the access and ID tokens that a sign-in brings, and of those of a refresh. */
const SHORT_SECONDS = 8;
const LONG_SECONDS = 3_600;
/** Until a peer refreshes that does so at a fixed interval, whatever the token's lifetime. */
const REFRESH_SECONDS = SHORT_SECONDS - 1;
/** Until a user gives up who is told to try again. */
const RECOVERY_SECONDS = 40;
/** Until a browser gives up. */
const PATIENCE_SECONDS = 20;

/** A redis-server without persistence. */
export async function startRedis(folder) {
  const port = await freePort();
  const program = await startProgram({
    command: await needProgram("redis-server", "redis-server"),
    args: ["--port", String(port), "--bind", "127.0.0.1", "--dir", folder, "--save", ""],
    ready: /Ready to accept connections/,
  });
  return { url: `redis://127.0.0.1:${port}`, stop: program.kill };
}

/**
 * @template Result
 * @param {import("./peer.mjs").Peer} peer
 * @param {{ processes: number, refreshSeconds?: number }} application
 * @param {(stage: Stage) => Promise<Result>} use
 * @returns {Promise<Result>}
 */
export async function withStage(peer, { processes, refreshSeconds = REFRESH_SECONDS }, use) {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-compare-"));
  const provider = await startTestProvider({ clientSecret: "secret-of-the-comparison" });
  /** @type {(() => unknown)[]} */
  const ends = [() => rmSync(folder, { recursive: true, force: true })];
  const later = (/** @type {() => unknown} */ end) => void ends.push(end);
  later(() => {
    // What a peer sends is the result, whether or not the provider allows it.
    provider.violations.length = 0;
    return provider.stop();
  });
  try {
    const redis = await startRedis(folder);
    later(redis.stop);
    const api = await startApi(provider);
    later(api.stop);
    const postgres = peer.needs?.includes("postgres") ? await startDatabase(folder) : undefined;
    later(() => postgres?.end());
    const front = await startFront();
    later(front.stop);
    const parts = { peer, provider, front, folder, api, redis, postgres, refreshSeconds };
    const stage = new Stage(parts);
    later(() => stage.stop());
    for (let number = 0; number < processes; number += 1) await stage.startInstance(number);
    stage.balance();
    return await use(stage);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

export class Stage {
  /** @type {(Awaited<ReturnType<typeof startInstance>> | undefined)[]} */
  instances = [];
  #parts;
  #users = 0;

  constructor(parts) {
    this.#parts = parts;
    this.peer = parts.peer;
    /** @type {import("idpauth/testing").TestProvider} */
    this.provider = parts.provider;
    this.front = parts.front;
    this.api = parts.api;
  }

  async startInstance(number, port) {
    const options = await this.#options("process-", port);
    this.instances[number] = await startInstance(await this.peer.start(options));
  }

  /** The bare framework, as a further instance. */
  async startBare() {
    const instance = await startInstance(await this.peer.bare(await this.#options("bare-")));
    this.instances.push(instance);
    return instance;
  }

  /** @returns {Promise<import("./peer.mjs").StartOptions>} */
  async #options(prefix, port) {
    const { provider, front, folder, api, redis, postgres, refreshSeconds } = this.#parts;
    const { issuer, clientId, clientSecret } = provider;
    return {
      port: port ?? (await freePort()),
      origin: front.origin,
      issuer,
      clientId,
      clientSecret,
      redisUrl: redis.url,
      postgresUrl: postgres?.url,
      apiUrl: api.url,
      refreshSeconds,
      folder: mkdtempSync(path.join(folder, prefix)),
      sharedFolder: folder,
      freePort,
    };
  }

  /** All processes that run get connections in turn. */
  balance() {
    this.front.to(...this.instances.filter((each) => each !== undefined).map(({ port }) => port));
  }

  async stop() {
    await Promise.all(this.instances.map((instance) => instance?.stop()));
  }

  /** @param {boolean} areShort whether the tokens expire within seconds */
  tokensLive(areShort) {
    const seconds = areShort ? SHORT_SECONDS : LONG_SECONDS;
    this.provider.settings.accessTokenSeconds = seconds;
    this.provider.settings.idTokenSeconds = seconds;
  }

  /** @returns a browser of a user of its own, before the sign-in */
  newUser() {
    this.#users += 1;
    const sub = `user-${this.#users}`;
    const browser = new CookieBrowser({ origin: this.front.origin });
    return Object.assign(browser, { sub });
  }

  /** The provider signs in this user next. */
  choose({ sub }) {
    this.provider.person = { sub, name: `User ${sub}`, email: `${sub}@example.com` };
    this.provider.person.email_verified = true;
  }

  /**
   * @returns the browser of a new user who is signed in
   * @throws Error the sign-in doesn't work, so nothing else would
   */
  async signedIn() {
    const browser = this.newUser();
    await this.signIn(browser);
    const page = await browser.get("/page");
    if (page.status !== 200 || page.json().user !== browser.sub)
      throw new Error(
        `After the sign-in, /page is ${page.status} ${page.location ?? page.text.slice(0, 300)}`,
      );
    return browser;
  }

  async signIn(browser) {
    this.choose(browser);
    const { signIn, paths } = this.peer;
    return (await signIn?.(browser)) ?? (await browser.follow(paths.login));
  }

  /** Waits until the tokens of all sign-ins so far have expired. */
  async expire() {
    await wait(SHORT_SECONDS * 1_000 + 500);
  }

  async signOut(browser) {
    const { signOut, paths } = this.peer;
    await (signOut?.(browser) ?? browser.follow(paths.logout));
  }

  /**
   * Requests /orders as a script does.
   *
   * @returns {Promise<string>} what came of it
   */
  async orders(browser) {
    const signal = AbortSignal.timeout(PATIENCE_SECONDS * 1_000);
    return browser.get("/orders", { signal }).then(outcomeOf, (error) => {
      if (!signal.aborted && !/ECONN|socket hang up/.test(String(error))) throw error;
      return signal.aborted ? `no response within ${PATIENCE_SECONDS} s` : "connection closed";
    });
  }

  /** Starts to count: returns how many refreshes and reuses the provider has seen since. */
  counted() {
    this.provider.requests.length = 0;
    const { reuses } = this.provider;
    return () => ({
      refreshes: this.provider.requestsTo("token", { grant_type: "refresh_token" }).length,
      reuses: this.provider.reuses - reuses,
    });
  }

  /**
   * Whether the user is still signed in when all is well again, also a second later: asks once a
   * second, for at most 40 s, as long as it may be only a matter of time.
   *
   * @param {boolean} isFinal whether no token is left that the provider would accept
   */
  async afterwards(browser, isFinal = false) {
    const began = performance.now();
    const limit = began + RECOVERY_SECONDS * 1_000;
    for (let inRow = 0, seconds = 0; ;) {
      const outcome = await this.orders(browser);
      const isGood = outcome === "200";
      if (isGood && inRow === 0) seconds = Math.round((performance.now() - began) / 1000);
      inRow = isGood ? inRow + 1 : 0;
      if (inRow === 2)
        return {
          isSignedIn: true,
          seconds,
          text: seconds > 1 ? `signed in, after ${seconds} s` : "signed in",
        };
      const isOver = !isGood && (isFinal || !mayRecover(outcome));
      if (isOver || performance.now() > limit) return { isSignedIn: false, text: wordsOf(outcome) };
      await wait(1_000);
    }
  }
}
