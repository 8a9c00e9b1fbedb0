import {
  createIdpAuth,
  type FrameworkAdapter,
  type IdpAuth,
  type Reply,
} from "../../src/adapter.js";
import type { Events, IdpAuthOptions, IdpRequest, LogEntry } from "../../src/index.js";
import {
  startTestProvider,
  type PersonClaims,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { EVENT_TABLE } from "../../scripts/event-tables.mjs";
import { textReply } from "./text-reply.js";
import { optionsFor } from "./options-for.js";
import { mistakesInEvent, mistakesInLine } from "./event-fields.js";

/** The simplest host there is: its requests are the component's own plain values. */
const PLAIN_HOST: FrameworkAdapter<IdpRequest> = { name: "plain", request: (raw) => raw };

/** Where the application under test is reached, unless a request says otherwise. */
export const OWN_ORIGIN = "http://app.example";

export interface ApplicationOptions extends Omit<IdpAuthOptions, "clock" | "log"> {
  /** Beside the collected lines. */
  readonly log?: (entry: LogEntry) => void;
  readonly provider?: TestProviderOptions;
  /** Where a test needs the clock before the application, for a store. */
  readonly clock?: TestClock;
}

/**
 * A component whose endpoints are called, not served, with a real provider on a socket behind it.
 * One clock for both.
 */
export interface Application {
  readonly auth: IdpAuth<IdpRequest>;
  readonly provider: TestProvider;
  readonly clock: TestClock;
  /** Every log line so far. */
  readonly log: LogEntry[];
  /**
   * Another process of the same application: same store, same settings but for those given, own
   * memory. Needs a `store` in the options.
   */
  another(overrides?: Partial<IdpAuthOptions>): IdpAuth<IdpRequest>;
  user(): TestUser;
  stop(): Promise<void>;
}

export async function startApplication({
  provider: providerOptions,
  clock = new TestClock(),
  ...options
}: ApplicationOptions = {}): Promise<Application> {
  const provider = await startTestProvider({ clock, ...providerOptions });
  const log: LogEntry[] = [];
  /** Fields of events and lines that docs/reference/events.md doesn't have. */
  const mistakes: string[] = [];
  const build = (overrides: Partial<IdpAuthOptions> = {}): IdpAuth<IdpRequest> =>
    createIdpAuth(
      {
        ...optionsFor(provider),
        ...options,
        clock,
        logEveryLine: true,
        log: (entry) => {
          log.push(entry);
          mistakes.push(...mistakesInLine(entry));
          options.log?.(entry);
        },
        ...overrides,
      },
      PLAIN_HOST,
    );
  const auth = build();
  auth.start();
  for (const name of Object.keys(EVENT_TABLE) as (keyof Events)[])
    auth.on(name, (event) => mistakes.push(...mistakesInEvent({ name, event: { ...event } })));
  return {
    auth,
    provider,
    clock,
    log,
    another: build,
    user: () => new TestUser(auth, provider, clock),
    async stop() {
      await provider.stop();
      const [mistake] = mistakes.splice(0);
      if (mistake !== undefined)
        throw new Error(`${mistake}: scripts/event-tables.mjs has no such field there.`);
    },
  };
}

export interface CallOptions {
  readonly method?: string;
  /**
   * Lower-case names. A `cookie` here replaces the user's own. `sec-fetch-site` is `none` by
   * default: the user types the address.
   */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly host?: string;
  readonly scheme?: "http" | "https";
  /** As a body parser leaves it, or an async iterable of bytes. */
  readonly body?: unknown;
}

/** A reply, with what tests ask of one. */
export interface Answer extends Reply {
  readonly location: string;
  json(): any; // eslint-disable-line @typescript-eslint/no-explicit-any -- the test knows what it asked for
}

type Said = (where: "head" | "body" | "set-cookie", text: string) => void;

/** What test/secret-scan/record.mjs sees by itself where an answer goes over a socket. */
function recordForScan({ headers, body, setCookies }: Reply): void {
  const said = (globalThis as Readonly<Record<symbol, Said | undefined>>)[
    Symbol.for("idpauth.secret-scan")
  ];
  if (said === undefined) return;
  for (const cookie of setCookies ?? []) said("set-cookie", cookie);
  for (const [name, value] of Object.entries(headers)) said("head", `${name}: ${value}`);
  said("body", body ?? "");
}

/** Somebody with a cookie-keeping browser. */
export class TestUser {
  readonly cookies = new Map<string, string>();
  readonly #auth: IdpAuth<IdpRequest>;
  readonly #provider: TestProvider;
  readonly #clock: TestClock;

  constructor(auth: IdpAuth<IdpRequest>, provider: TestProvider, clock: TestClock) {
    this.#auth = auth;
    this.#provider = provider;
    this.#clock = clock;
  }

  /** The request as a host would hand it over, with the cookies as they are now. */
  request(
    target: string,
    { method = "GET", headers = {}, host = "app.example", scheme = "http", body }: CallOptions = {},
  ): IdpRequest {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const all: Record<string, string | undefined> = {
      "sec-fetch-site": "none",
      ...(cookie !== "" && { cookie }),
      ...headers,
    };
    return { method, target, scheme, host, header: (name) => all[name], body: () => body };
  }

  /**
   * Calls an endpoint and keeps the cookies it sets. Throws when the path is not the component's.
   */
  async get(target: string, options?: CallOptions): Promise<Answer> {
    const handled = this.#auth.handle(this.request(target, options));
    if (handled === undefined) throw new Error(`${target} is not answered by the component`);
    const reply = textReply(await handled);
    recordForScan(reply);
    for (const cookie of reply.setCookies ?? []) this.#keep(cookie);
    return {
      ...reply,
      location: reply.headers["Location"] ?? "",
      json: () => JSON.parse(reply.body ?? "") as unknown,
    };
  }

  /** Posts a form. */
  post(
    target: string,
    fields: Readonly<Record<string, string>>,
    options: CallOptions = {},
  ): Promise<Answer> {
    const headers = { "content-type": "application/x-www-form-urlencoded", ...options.headers };
    return this.get(target, {
      body: new URLSearchParams(fields).toString(),
      ...options,
      method: "POST",
      headers,
    });
  }

  /** As `get`, on another process of the application. */
  at(auth: IdpAuth<IdpRequest>): TestUser {
    const elsewhere = new TestUser(auth, this.#provider, this.#clock);
    for (const [name, value] of this.cookies) elsewhere.cookies.set(name, value);
    return elsewhere;
  }

  /** Starts a login and lets the provider approve it. Gives the target of the callback. */
  async approve(loginTarget = "/idpauth/login/", person?: PersonClaims): Promise<string> {
    const login = await this.get(loginTarget);
    const callback = new URL(await this.#provider.signInCode(login.location, person));
    return `${callback.pathname}${callback.search}`;
  }

  /** The whole trip. Gives the callback's answer. */
  async signIn(loginTarget?: string, person?: PersonClaims): Promise<Answer> {
    return this.get(await this.approve(loginTarget, person));
  }

  async isSignedIn(): Promise<boolean> {
    return ((await this.get("/idpauth/session")).json() as { authenticated: boolean })
      .authenticated;
  }

  #keep(cookie: string): void {
    const [pair = "", ...attributes] = cookie.split("; ");
    const [name = "", value = ""] = pair.split("=");
    if (attributes.includes("Max-Age=0")) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
