import assert from "node:assert/strict";
import {
  startTestProvider,
  type ReceivedRequest,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import { ApplicationProcess, type Answer, type Tally } from "./application-process.js";
import { DemandedNonces } from "./demanded-nonces.js";
import { People, type TokenLife, type TestUser } from "./people.js";
import type { ProcessOptions } from "./process-options.js";
import type { RunningStore } from "./store-rigs.js";

export const SECRET_KEY = "a secret key of at least 32 bytes, the first";
const FLEET_SIZE = 4;
/** Real seconds; nobody here waits that long, unless something is wrong. */
const HTTP_TIMEOUT = 20;

type Changes = Partial<Omit<ProcessOptions, "store">>;

/** What differs from the usual stage. */
export interface StageOptions {
  readonly provider?: TestProviderOptions;
  /** Of all processes. */
  readonly processes?: Changes;
}

/**
 * One store with a provider before it and application processes over it: where a scenario plays.
 */
export class Stage {
  readonly provider: TestProvider;
  readonly people: People;
  readonly store: RunningStore;
  readonly tally: Tally = { requests: 0, signedIn: 0 };
  /** Four processes that every scenario may use and must leave running. */
  readonly fleet: ApplicationProcess[] = [];
  readonly #started: ApplicationProcess[] = [];
  readonly #changes: Changes;
  readonly #nonces: DemandedNonces;

  private constructor(provider: TestProvider, store: RunningStore, changes: Changes) {
    this.provider = provider;
    this.#changes = changes;
    this.#nonces = new DemandedNonces(provider);
    this.people = new People(provider);
    this.store = store;
  }

  static async open(
    store: RunningStore,
    { provider, processes = {} }: StageOptions = {},
  ): Promise<Stage> {
    const stage = new Stage(await startTestProvider(provider), store, processes);
    try {
      stage.fleet.push(...(await stage.startMany(FLEET_SIZE)));
      return stage;
    } catch (error) {
      await stage.close();
      throw error;
    }
  }

  async start(changes: Changes = {}, { nextFormat = false } = {}): Promise<ApplicationProcess> {
    const { issuer, clientId, clientSecret } = this.provider;
    const own = {
      store: this.store.options,
      secretKey: SECRET_KEY,
      issuer,
      clientId,
      clientSecret,
      httpTimeout: HTTP_TIMEOUT,
    };
    const started = await ApplicationProcess.start(
      { ...own, ...this.#changes, ...changes },
      { nextFormat, tally: this.tally },
    );
    this.#started.push(started);
    return started;
  }

  startMany(count: number, changes?: Changes): Promise<ApplicationProcess[]> {
    return Promise.all(Array.from({ length: count }, () => this.start(changes)));
  }

  /** Whether the provider looks at what this request asks for: it has the nonce that it needs. */
  passes(request: ReceivedRequest): boolean {
    return this.#nonces.passes(request);
  }

  /** Token requests that were refreshes, with the nonce that they need: of one person, or all. */
  refreshes(user?: TestUser): number {
    const all = this.provider
      .requestsTo("token", { grant_type: "refresh_token" })
      .filter((request) => this.passes(request));
    if (user === undefined) return all.length;
    const theirs = this.people.refreshTokensOf(user);
    return all.filter(({ params }) => theirs.includes(params.get("refresh_token") ?? "")).length;
  }

  /** A sign-in that begins at one process and ends at another. */
  async signIn(
    begin: ApplicationProcess,
    end: ApplicationProcess,
    life?: Partial<TokenLife>,
  ): Promise<TestUser> {
    const { sub, email, claims } = this.people.add(life);
    for (;;) {
      const login = await begin.ask("/idpauth/login/");
      assert.equal(
        login.status,
        302,
        `the login was answered ${String(login.status)}: ${login.text}`,
      );
      const callback = new URL(await this.provider.signInCode(login.location ?? "", claims));
      const pending = cookieOf(login);
      assert.ok(pending !== undefined, "the login set no cookie");
      const signedIn = await end.ask(callback.pathname + callback.search, {
        cookie: pending,
        allowsUnavailable: true,
      });
      // The state may be used up, so the user begins again.
      if (signedIn.status === 503) continue;
      const cookie = cookieOf(signedIn);
      assert.ok(
        cookie !== undefined,
        `the callback set no cookie: ${String(signedIn.status)} ${signedIn.text}`,
      );
      return { sub, email, cookie };
    }
  }

  /** Many users, each signed in over two processes of the fleet. */
  async signInMany(count: number, life?: Partial<TokenLife>): Promise<TestUser[]> {
    const users: TestUser[] = [];
    let next = 0;
    const one = async (): Promise<void> => {
      while (next < count) {
        const number = next++;
        users[number] = await this.signIn(this.at(number), this.at(number + 1), life);
      }
    };
    await Promise.all(Array.from({ length: 16 }, one));
    return users;
  }

  /** A process of the fleet, in turn. */
  at(number: number): ApplicationProcess {
    return this.fleet[number % this.fleet.length]!;
  }

  /** A refreshing user's old session leads to this one sign-in, as a browser follows the guard. */
  async signInAgain(user: TestUser, process: ApplicationProcess): Promise<void> {
    const { email, sub } = user;
    const guarded = await process.ask("/guarded", { cookie: user.cookie, navigates: true });
    assert.equal(guarded.status, 302);
    const login = await process.ask(guarded.location ?? "", {
      cookie: user.cookie,
      navigates: true,
    });
    assert.equal(login.status, 302, login.text);
    const callback = new URL(await this.provider.signInCode(login.location ?? "", { sub, email }));
    const done = await process.ask(callback.pathname + callback.search, {
      cookie: cookieOf(login) ?? user.cookie,
      navigates: true,
    });
    assert.equal(done.status, 302, done.text);
    assert.equal(done.location, "http://app.example/guarded");
    user.cookie = cookieOf(done) ?? "";
  }

  /** That nothing has crashed and nothing leaked into what processes wrote. */
  check(): void {
    for (const process of this.fleet)
      assert.ok(process.isRunning, `a process of the fleet is gone: ${process.stderr}`);
    for (const { stderr } of this.#started) {
      assert.doesNotMatch(
        stderr,
        /Error|Unhandled|\bat .+:\d+:\d+/,
        "a process has reported an error that nobody handled",
      );
      for (const { kind, value } of this.provider.issued)
        assert.ok(!stderr.includes(value), `a ${kind} stands in what a process wrote`);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#started.map((process) => process.kill()));
    await this.provider.stop();
  }
}

/** The session cookie that an answer sets, as a Cookie header. */
export function cookieOf({ setCookies }: Answer): string | undefined {
  return setCookies.find((cookie) => cookie.startsWith("idpauth="))?.split(";", 1)[0];
}

/** The answer says that this very user is signed in, and sets no cookie. */
export function assertSignedIn(answer: Answer, { email }: TestUser, when = ""): void {
  assert.equal(answer.status, 200, `${when} answered ${String(answer.status)}: ${answer.text}`);
  const body = JSON.parse(answer.text) as {
    authenticated: boolean;
    user: { email: string } | null;
  };
  assert.equal(body.authenticated, true, `${when} signed out`);
  assert.equal(body.user?.email, email, `${when} somebody else's session`);
  assert.deepEqual(answer.setCookies, []);
}

/** The answer says that nobody is signed in, which is not what an outage says. */
export function assertSignedOut(answer: Answer, when = ""): void {
  assert.equal(answer.status, 200, `${when} answered ${String(answer.status)}: ${answer.text}`);
  assert.equal(
    (JSON.parse(answer.text) as { authenticated: boolean }).authenticated,
    false,
    `${when} still signed in`,
  );
}
