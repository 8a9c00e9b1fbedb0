import { ApiTokenError, isOutage } from "../../src/errors.js";
import type { JsonObject } from "../../src/record/json.js";
import type { IdpRequest } from "../../src/http/request.js";
import type { Reply } from "../../src/http/reply.js";
import { textReply } from "../support/text-reply.js";
import { epochSeconds } from "../../src/clock.js";
import type { FrameworkAdapter, IdpAuth } from "../../src/auth/adapter-types.js";
import { createIdpAuthOver } from "../../src/auth/create-idp-auth.js";
// Loaded now: loading them by their first use would be I/O.
import "../../src/access/api-access.js";
import "../../src/endpoints/backchannel-logout.js";
import "../../src/endpoints/logout-at-provider.js";
import "../../src/endpoints/page-endpoints.js";
import "../../src/pages/common-pages.js";
import "../../src/record/stored-api-tokens.js";
import {
  modelData,
  modelHooks,
  refreshTag,
  SIGN_IN_HOOKS,
  tagging,
  tagsIn,
  type HookPlan,
  type HookWeather,
} from "./application-hooks.js";
import { Ledger, SECRET_KEY, type Session, type Violation } from "./ledger.js";
import { ISSUER, ModelProvider, partsOf } from "./model-provider.js";
import { LOGGED_OUT } from "./provider-logouts.js";
import { Random, seedTheWorld } from "./random.js";
import { ScheduledStore } from "./scheduled-store.js";
import { Scheduler, turn, type Actor, type Owner, type Process } from "./scheduler.js";

const PLAIN_HOST: FrameworkAdapter<IdpRequest> = { name: "plain", request: (raw) => raw };
const COOKIE = "idpauth";
/** An interleaving that takes more steps than this goes round in circles. */
const MOST_STEPS = 6_000;
/** The user whose ID tokens may have an unknown key. The other one must not notice it. */
const UNLUCKY = "ada";
/**
 * Milliseconds in which everybody must be served again after the last fault: a whole lease, a
 * back-off, and some.
 */
const RECOVERY = 120_000;

export const ACTOR_KINDS = [
  "probe",
  "credentials",
  "accessToken",
  "api orders",
  "api billing",
  "guard",
  "late",
  "login",
  "signIn",
  "callback",
  "logout",
  "back-channel logout",
  "data",
] as const;
export type ActorKind = (typeof ACTOR_KINDS)[number];

export const EVENT_KINDS = [
  "crash",
  "store outage",
  "store hiccups",
  "provider outage",
  "keys outage",
  "unknown key",
  "slow provider",
  "withdrawal",
  "hook trouble",
  "denial",
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

interface PlannedActor {
  readonly kind: ActorKind;
  readonly browser: number;
  readonly process: number;
  readonly after: number;
}

interface PlannedEvent {
  readonly kind: EventKind;
  readonly process: number;
  readonly after: number;
}

/** What is to happen; when, the scheduler decides. */
export interface Scenario extends HookPlan {
  readonly processes: number;
  readonly users: readonly string[];
  readonly actors: readonly PlannedActor[];
  readonly events: readonly PlannedEvent[];
  /** Milliseconds from the sign-in to the first actor. */
  readonly age: number;
  readonly rotates: boolean;
  readonly endsGrant: boolean;
  /** The provider names its sessions (`sid`). */
  readonly namesSession: boolean;
  /** Time stands still while anything can be done. */
  readonly prompt: boolean;
  /** How many refreshes a process has at the provider at a time. */
  readonly refreshConcurrency: number;
  readonly sessionMaxAge: number | null;
  readonly sessionIdleTimeout: number | null;
  /** A sign-in may be another person's in the same browser. */
  readonly switches: boolean;
  /** The browser has lost the cookie of its first sign-in. */
  readonly forgetsCookie: boolean;
}

/**
 * Whether the provider may be one that ends all of a user's grants with one revoked token. Off:
 * what a process gives back after another process has signed the user in anew ends the new sign-in
 * too; see README.md.
 */
const ENDS_GRANT = process.env["INTERLEAVING_GRANTS"] === "1";

/**
 * Milliseconds before the ID token's expiry at which sessions are used that are about to expire.
 */
const NEARLY = 20_000;
const HOUR = 3_600_000;
const PACES = [1, 1, 0.1, 6];

export function planScenario(random: Random): Scenario {
  const processes = 1 + random.below(3);
  const users = random.chance(0.2) ? ["ada", "grace"] : ["ada"];
  const kinds: readonly ActorKind[] = [
    ...ACTOR_KINDS,
    "probe",
    "credentials",
    "late",
    "logout",
    "callback",
    "data",
    "back-channel logout",
  ];
  const actors = Array.from({ length: 2 + random.below(3) }, () => ({
    kind: random.pick(kinds),
    browser: random.below(users.length),
    process: random.below(processes),
    after: random.chance(0.6) ? 0 : random.below(25),
  }));
  // Somebody clicks twice, and the load balancer sends the second click elsewhere.
  const clicked = actors.find(({ kind }) => kind === "callback");
  if (clicked !== undefined && random.chance(0.4))
    actors.push({ ...clicked, process: random.below(processes) });
  if (clicked !== undefined && random.chance(0.3))
    actors.push({ ...clicked, kind: "data", process: random.below(processes) });
  // The provider logs a user out who is just signing in.
  const signingIn = actors.find(({ kind }) => kind === "signIn") ?? clicked;
  if (signingIn !== undefined && random.chance(0.3))
    actors.push({ ...signingIn, kind: "back-channel logout", process: random.below(processes) });
  const isDuel = random.chance(0.15);
  if (isDuel) actors.splice(0, Infinity, ...planDuel(random, processes));
  else if (random.chance(0.1)) actors.splice(0, Infinity, ...planApiRequests(random, processes));
  const hasEvents = !isDuel && random.chance(0.65);
  const events = Array.from({ length: hasEvents ? 1 + random.below(2) : 0 }, () => {
    const kind = random.pick(EVENT_KINDS);
    // A denial has to come before the sign-ins that it is about.
    return {
      kind,
      process: random.below(processes),
      after: kind === "denial" ? 0 : random.below(16),
    };
  });
  return {
    processes,
    users,
    actors,
    events,
    age: random.chance(0.85) ? HOUR + random.below(3) * 1_000 : HOUR - NEARLY,
    rotates: random.chance(0.85),
    endsGrant: ENDS_GRANT && random.chance(0.5),
    namesSession: random.chance(0.7),
    prompt: !hasEvents || random.chance(0.4),
    refreshConcurrency: random.pick([1, 8]),
    sessionMaxAge: random.chance(0.15) ? 3_600 + random.below(30) : null,
    sessionIdleTimeout: random.chance(0.5) ? 3_600 + random.pick([1, 5, 30, 600]) : null,
    signInHook: random.pick(SIGN_IN_HOOKS),
    hasRefreshHook: random.chance(0.5),
    switches: random.chance(0.3),
    forgetsCookie: users.length === 1 && random.chance(0.15),
  };
}

/**
 * A sign-in and a logout at the provider, and nothing else: their race is too narrow to be met
 * often in a larger cast.
 */
function planDuel(random: Random, processes: number): readonly PlannedActor[] {
  const duellist = (kind: ActorKind) => ({
    kind,
    browser: 0,
    process: random.below(processes),
    after: 0,
  });
  return [duellist(random.pick(["callback", "signIn"])), duellist("back-channel logout")];
}

/** Requests of one session for two APIs at once, and sometimes its logout. */
function planApiRequests(random: Random, processes: number): readonly PlannedActor[] {
  const plan = (kind: ActorKind) => ({
    kind,
    browser: 0,
    process: random.below(processes),
    after: random.below(6),
  });
  const requests = Array.from({ length: 3 + random.below(4) }, () =>
    plan(random.pick(["api orders", "api billing"])),
  );
  return random.chance(0.25) ? [...requests, plan("logout")] : requests;
}

interface RunningProcess extends Process {
  readonly number: number;
  readonly auth: IdpAuth<IdpRequest>;
}

interface Browser {
  readonly user: string;
  /** The value of the session cookie. */
  cookie: string | undefined;
  /** It has been signed in, and nothing but what the ledger knows may end that. */
  wasSignedIn: boolean;
  /** A logout at the provider overtook a callback of this browser. */
  wasTurnedAway: boolean;
}

interface RunningActor extends Actor {
  readonly browser: Browser;
  readonly process: RunningProcess;
  settled: boolean;
}

/** What the user knew, or could have known, when a request was sent. */
interface Before {
  readonly session: Session | undefined;
  readonly cookie: string | undefined;
  readonly wasAlive: boolean;
  readonly isSignedIn: boolean;
  /** A confirmed logout at the provider has ended it. */
  readonly isLoggedOut: boolean;
  /** The generation of the access token that lay in the store. */
  readonly generation: number;
  readonly lastActive: number | undefined;
  readonly at: number;
}

/** What an answer says of the user. */
interface Said {
  readonly verdict: "in" | "out" | "unavailable" | "nothing";
  readonly email?: string | null;
  readonly token?: string;
  /** The API that the token is for. */
  readonly api?: string;
  readonly setCookies?: readonly string[];
  readonly status?: number;
}

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly trace: readonly string[];
  readonly steps: number;
}

/**
 * Runs one interleaving: the real code of several processes over one store and one provider,
 * everything else decided by chance.
 */
export async function runInterleaving(
  seed: number,
  count: (kind: string) => void,
  scenario?: Scenario,
): Promise<Outcome> {
  const random = new Random(seed);
  const interleaving = new Interleaving(
    random,
    scenario ?? planScenario(new Random(seed ^ 0x5eed)),
    count,
  );
  const restore = seedTheWorld(random, (bytes) => interleaving.ledger.made(bytes));
  const onRejection = (reason: unknown) => {
    interleaving.ledger.report("no unhandled rejection", String(reason));
  };
  process.on("unhandledRejection", onRejection);
  try {
    await interleaving.run();
  } finally {
    process.off("unhandledRejection", onRejection);
    restore();
  }
  return {
    violations: interleaving.ledger.violations,
    trace: interleaving.scheduler.trace,
    steps: interleaving.scheduler.stepsTaken,
  };
}

class Interleaving {
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly #scenario: Scenario;
  readonly #random: Random;
  readonly #count: (kind: string) => void;
  readonly #store: ScheduledStore;
  readonly #provider: ModelProvider;
  readonly #processes: RunningProcess[] = [];
  readonly #browsers: Browser[];
  readonly #actors: RunningActor[] = [];
  /** Callbacks that are ready to be called, by browser. */
  readonly #lostToLogout: RunningActor[] = [];
  /** Callbacks whose user a hook denied, or whose hook failed. */
  readonly #turnedAway: RunningActor[] = [];
  readonly #hookWeather: HookWeather = {
    trouble: 0,
    denies: false,
    denied: new Set(),
    signOuts: [],
  };
  readonly #callbacks: string[][];
  #faultsGoOn = true;
  #started = 0;

  constructor(random: Random, scenario: Scenario, count: (kind: string) => void) {
    this.#random = random;
    this.#scenario = scenario;
    this.#count = count;
    this.scheduler = new Scheduler(random, count);
    this.ledger = new Ledger(this.scheduler, (id) => this.#provider.families.get(id));
    this.#store = new ScheduledStore(this.scheduler, this.ledger);
    this.#provider = new ModelProvider(this.scheduler, this.ledger, scenario);
    this.#browsers = scenario.users.map((user) => ({
      user,
      cookie: undefined,
      wasSignedIn: false,
      wasTurnedAway: false,
    }));
    this.#callbacks = scenario.users.map(() => []);
  }

  async run(): Promise<void> {
    const { scheduler, ledger } = this;
    const { age, processes, actors, events } = this.#scenario;
    for (let number = 0; number < processes; number += 1)
      this.#processes.push(this.#startProcess(number));
    ledger.signInHook = this.#scenario.signInHook;
    ledger.apis = actors.flatMap(({ kind }) => apiOf(kind) ?? []);
    ledger.earliness = actors.some(({ kind }) => kind === "accessToken") ? 30 : 0;

    scheduler.orderly = true;
    for (const [number, browser] of this.#browsers.entries())
      await this.#setUp(number, browser, age);
    const requestsBefore = ledger.requests.length;
    scheduler.orderly = false;
    scheduler.prompt = this.#scenario.prompt;
    scheduler.trace.push(`--- ${describe(this.#scenario)}`);

    for (const planned of actors) {
      scheduler.add("", { process: undefined, actor: undefined }, () => this.#start(planned), {
        steps: planned.after,
      });
    }
    for (const planned of events) {
      scheduler.add("", { process: undefined, actor: undefined }, () => this.#happen(planned), {
        steps: planned.after,
      });
    }
    await this.#settle();
    if (ledger.violations.length > 0) return;
    this.#checkSettled(requestsBefore);
    if (ledger.violations.length > 0) return;
    await this.#recover();
    if (ledger.violations.length > 0) return;
    this.#checkEnd();
  }

  #startProcess(number: number): RunningProcess {
    const name = `p${String(number + 1)}${"'".repeat(this.#processes[number] === undefined ? 0 : this.#processes[number].name.length - 1)}`;
    const state: Process = { name, crashed: false };
    const auth = createIdpAuthOver(
      {
        env: {},
        baseUrl: "http://localhost",
        secretKey: SECRET_KEY,
        clientId: "client",
        clientSecret: "client secret",
        issuer: ISSUER,
        scope: ["openid", "email"],
        backchannelLogout: true,
        apis: {
          orders: { url: "https://orders.internal/", resource: "urn:orders" },
          billing: { url: "https://billing.internal/", scope: "bill" },
        },
        refreshConcurrency: this.#scenario.refreshConcurrency,
        sessionMaxAge: this.#scenario.sessionMaxAge,
        sessionIdleTimeout: this.#scenario.sessionIdleTimeout,
        store: this.#store.of(state),
        clock: this.scheduler.clockOf(state),
        ...modelHooks(state, this.#scenario, this.#hookWeather, this.scheduler, this.#random),
        log: ({ level, code, message }) => {
          if (/[ar]t\.f\d/.test(message)) this.ledger.report("nothing secret is logged", message);
          if (message.startsWith("`on(")) this.ledger.report("no unexpected error", message);
          if (level === "error") this.#count(`log ${code}`);
        },
      },
      PLAIN_HOST,
      () => this.#provider.of(state),
    );
    auth.start();
    auth.on("failure", ({ reason }) => {
      if (reason === "logged_out_at_provider") this.#turnedAwayByLogout();
      if (reason === "unexpected")
        this.ledger.report("no unexpected error", "a failure event says so");
    });
    auth.on("refresh", () => this.#count("refresh"));
    auth.on("login", () => this.#count("login"));
    auth.on("logout", () => this.#count("logout"));
    return Object.assign(state, { number, auth });
  }

  /**
   * Signs the browser in, lets its ID token grow old, and starts the logins whose callbacks will be
   * called.
   */
  async #setUp(number: number, browser: Browser, age: number): Promise<void> {
    const actor: RunningActor = {
      name: "setup",
      kind: "setup",
      faulted: false,
      pace: 1,
      browser,
      process: this.#pickProcess(0),
      settled: false,
    };
    const perform = async (work: () => Promise<unknown>) => {
      let isDone = false as boolean;
      this.scheduler.current = { process: actor.process, actor };
      void work().finally(() => (isDone = true));
      await turn();
      while (!isDone) await this.scheduler.step();
      this.scheduler.current = { process: undefined, actor: undefined };
    };
    await perform(async () => {
      await this.#follow(actor, await this.#beginLogin(actor));
      const session = this.ledger.sessionOf(browser.cookie);
      await actor.process.auth.updateData(
        this.#request(actor, "/"),
        tagging(session?.record.id_info?.sub, "updated:setup"),
      );
    });
    if (this.#scenario.forgetsCookie) browser.cookie = undefined;
    if (number === this.#browsers.length - 1) this.scheduler.advance(age);
    for (const planned of this.#scenario.actors) {
      if (planned.kind !== "callback" || this.#browsers[planned.browser] !== browser) continue;
      const again = this.#random.chance(0.5) ? this.#callbacks[number]?.at(-1) : undefined;
      if (again !== undefined) this.#callbacks[number]?.push(again);
      else
        await perform(async () => {
          const callback = await this.#beginLogin(actor);
          if (callback !== undefined) this.#callbacks[number]?.push(callback);
        });
    }
  }

  async #beginLogin(actor: RunningActor, user = actor.browser.user): Promise<string | undefined> {
    const reply = await this.#get(actor, "/idpauth/login/");
    const location = reply.headers["Location"];
    if (reply.status !== 302 || location === undefined) return undefined;
    const state = new URL(location).searchParams.get("state") ?? "";
    return `/idpauth/login-callback?${new URLSearchParams({ state, code: this.#provider.approve(location, user) }).toString()}`;
  }

  #turnedAwayByLogout(): void {
    const actor = this.scheduler.current.actor as RunningActor | undefined;
    if (actor !== undefined) actor.browser.wasTurnedAway = true;
    const created = [...this.ledger.sessions.values()].filter(
      ({ createdBy }) => createdBy !== undefined && createdBy === actor,
    );
    this.ledger.logouts.overtook(actor, created);
  }

  async #follow(actor: RunningActor, callback: string | undefined): Promise<Reply | undefined> {
    return callback === undefined ? undefined : this.#get(actor, callback);
  }

  #pickProcess(number: number): RunningProcess {
    const wanted = this.#processes[number];
    const process =
      wanted === undefined || wanted.crashed
        ? this.#processes.find(({ crashed }) => !crashed)
        : wanted;
    if (process === undefined) throw new Error("no process is left");
    return process;
  }

  // What users do

  #request(
    { browser }: RunningActor,
    target: string,
    headers: Readonly<Record<string, string>> = {},
  ): IdpRequest {
    const all: Readonly<Record<string, string>> = {
      "sec-fetch-site": "none",
      ...(browser.cookie !== undefined && { cookie: `${COOKIE}=${browser.cookie}` }),
      ...headers,
    };
    return {
      method: "GET",
      target,
      scheme: "http",
      host: "localhost",
      header: (name) => all[name],
    };
  }

  async #get(actor: RunningActor, target: string): Promise<Reply> {
    const reply = actor.process.auth.handle(this.#request(actor, target));
    if (reply === undefined) throw new Error(`${target} is not answered`);
    const before = this.#before(actor);
    const answered = textReply(await reply);
    this.#checkCookies(actor, target, before, answered);
    for (const line of answered.setCookies ?? []) {
      const value = new RegExp(`^${COOKIE}=([^;]*)`).exec(line)?.[1];
      actor.browser.cookie = value === undefined || value === "" ? undefined : value;
      const session = this.ledger.sessionOf(actor.browser.cookie);
      if (session?.isAlive === true && session.record.credentials !== undefined)
        actor.browser.wasSignedIn = true;
    }
    return answered;
  }

  #start({ kind, browser: browserNumber, process: processNumber }: PlannedActor): void {
    const browser = this.#browsers[browserNumber];
    if (browser === undefined) return;
    this.#started += 1;
    const process = this.#pickProcess(processNumber);
    const pace = this.#random.pick(PACES);
    const actor: RunningActor = {
      name: `${kind}#${String(this.#started)}`,
      kind,
      faulted: false,
      pace,
      browser,
      process,
      settled: false,
    };
    this.#actors.push(actor);
    this.#count(`actor ${kind}`);
    this.scheduler.current = { process, actor };
    this.scheduler.note(
      `begins with ${this.ledger.sessionOf(browser.cookie)?.name ?? "no session"}`,
    );
    this.#act(actor).then(
      (said) => {
        actor.settled = true;
        this.scheduler.note(`       ${actor.name} of ${actor.process.name} is told: ${said}`);
      },
      (error: unknown) => {
        actor.settled = true;
        this.ledger.report(
          "no unexpected error",
          `${actor.name}: ${error instanceof Error ? `${error.name}: ${error.message}` : String(error)}`,
        );
      },
    );
  }

  async #act(actor: RunningActor): Promise<string> {
    const { auth } = actor.process;
    switch (actor.kind as ActorKind) {
      case "probe": {
        const before = this.#before(actor);
        return this.#judge(actor, before, await this.#probe(actor));
      }
      case "credentials": {
        const before = this.#before(actor);
        return this.#judge(
          actor,
          before,
          await told(
            auth.getCredentials(this.#request(actor, "/")),
            (credentials) => credentials?.token,
          ),
        );
      }
      case "accessToken": {
        const before = this.#before(actor);
        return this.#judge(
          actor,
          before,
          await told(auth.getAccessToken(this.#request(actor, "/")), (token) => token ?? undefined),
        );
      }
      case "api orders":
      case "api billing": {
        const before = this.#before(actor);
        const api = apiOf(actor.kind) ?? "";
        const said = await told(
          auth.getAccessToken(this.#request(actor, "/"), { api }).catch(nullWithoutGrant),
          (token) => token ?? undefined,
        );
        return this.#judge(actor, before, { ...said, api });
      }
      case "late": {
        const request = this.#request(actor, "/");
        const first = this.#before(actor);
        const early = await told(auth.checkIdpAuthentication(request), (isIn) =>
          isIn ? "" : undefined,
        );
        if (early.verdict === "unavailable") return this.#judge(actor, first, early);
        await new Promise<void>((resolve) =>
          this.scheduler.add("comes back", this.scheduler.current, resolve, {
            steps: this.#random.below(25),
          }),
        );
        // What it had read was still good for this request; only if not, it must see what others
        // have stored since.
        const before =
          early.verdict === "in"
            ? first
            : { ...this.#before(actor), wasAlive: true, session: first.session };
        return this.#judge(
          actor,
          before,
          await told(auth.getCredentials(request), (credentials) => credentials?.token),
        );
      }
      case "guard": {
        const before = this.#before(actor);
        const isPage = this.#random.chance(0.5);
        const request = this.#request(actor, "/page", isPage ? { accept: "text/html" } : {});
        const blocked = await auth.guard(request);
        const verdict =
          blocked === undefined ? "in" : blocked.kind === "unavailable" ? "unavailable" : "out";
        return this.#judge(actor, before, {
          verdict,
          ...(blocked && { setCookies: blocked.reply.setCookies ?? [] }),
        });
      }
      case "login":
        return (await this.#beginLogin(actor)) === undefined ? "not now" : "off to the provider";
      case "data": {
        const request = this.#request(actor, "/");
        // A request that lives long enough for others to do all their work.
        const isLate = this.#random.chance(0.4);
        const first = this.#before(actor);
        const early = isLate
          ? await told(auth.getSession(request), (session) => session?.user.email ?? undefined)
          : undefined;
        if (early !== undefined && early.verdict !== "in") return this.#judge(actor, first, early);
        if (isLate) {
          await new Promise<void>((resolve) =>
            this.scheduler.add("comes back", this.scheduler.current, resolve, {
              steps: this.#random.below(25),
            }),
          );
        }
        const before = isLate ? { ...first, isSignedIn: false } : this.#before(actor);
        const tag = `updated:${actor.name}`;
        const owner = before.session?.record.id_info?.sub;
        let after = null as JsonObject | null;
        const said = await told(auth.updateData(request, tagging(owner, tag)), (data) => {
          after = data;
          return data === null ? undefined : "";
        });
        if (after !== null) this.#checkUpdated(actor, before.session, tag, after);
        return this.#judge(actor, before, said);
      }
      case "signIn": {
        const isSwitch = this.#scenario.switches && this.#random.chance(0.5);
        const callback = await this.#beginLogin(actor, isSwitch ? "joan" : undefined);
        if (isSwitch) this.#count("another person's sign-in");
        if (callback === undefined) return "not now";
        await new Promise<void>((resolve) =>
          this.scheduler.add("comes back from the provider", this.scheduler.current, resolve, {
            steps: this.#random.below(8),
            // Late enough for an ID token that no logout of this moment ends.
            delay: this.#scenario.actors.some(({ kind }) => kind === "back-channel logout")
              ? this.#random.pick([0, 8_000])
              : 0,
          }),
        );
        return this.#callBack(actor, callback);
      }
      case "callback": {
        const callback = this.#callbacks[this.#browsers.indexOf(actor.browser)]?.shift();
        return callback === undefined ? "nothing" : this.#callBack(actor, callback);
      }
      case "back-channel logout":
        return this.#logOutAtProvider(actor);
      case "logout": {
        const before = this.#before(actor);
        const reply = await this.#get(actor, "/idpauth/logout/?response=json");
        if (reply.status === 503) {
          this.#count("answer unavailable");
          return "503";
        }
        if (reply.status !== 200 || !reply.body?.includes("logged_out"))
          this.ledger.report("no unexpected error", `logout answered ${String(reply.status)}`);
        if (before.session?.isAlive === true)
          this.ledger.report(
            "6 logout wins",
            `${before.session.name} exists after its logout was confirmed`,
          );
        if (before.session !== undefined) before.session.endedBy ??= "logout";
        this.#count("answer logged out");
        return "logged out";
      }
    }
  }

  /** The provider posts its logout token, maybe late, and maybe again. */
  async #logOutAtProvider(actor: RunningActor): Promise<string> {
    const { ledger, scheduler } = this;
    const logout = this.#provider.mintLogout(actor.browser.user, actor);
    scheduler.note(`${logout.text} by ${logout.sid === undefined ? "sub" : "sid"}`);
    let status = 0;
    for (const delay of this.#random.pick([[0], [0], [7_000], [60_000], [0, 60_000], [0, 9_000]])) {
      await new Promise<void>((resolve) =>
        scheduler.add("the logout token arrives", scheduler.current, resolve, {
          steps: this.#random.below(10),
          delay,
        }),
      );
      logout.isPosted = true;
      const headers: Record<string, string> = {
        "content-type": "application/x-www-form-urlencoded",
      };
      const handled = await actor.process.auth.handle({
        method: "POST",
        target: "/idpauth/backchannel-logout",
        scheme: "http",
        host: "localhost",
        header: (name) => headers[name],
        body: () => `logout_token=${logout.text}`,
      });
      const reply = handled && textReply(handled);
      ({ status = 0 } = reply ?? {});
      this.#count(`back-channel ${String(status)}`);
      if (status === 200) {
        const held = this.#browsers
          .map(({ cookie }) => ledger.sessionOf(cookie))
          .filter((session) => session !== undefined);
        ledger.logouts.confirmed(logout, [...ledger.sessions.values()], held);
      } else if (status !== 400)
        ledger.report("no unexpected error", `${actor.name} was answered ${String(status)}`);
      else if (!actor.faulted && !reply?.body?.includes("temporarily_unavailable"))
        ledger.report("no unexpected error", `${actor.name} was refused: ${reply?.body ?? ""}`);
    }
    return String(status);
  }

  async #callBack(actor: RunningActor, callback: string): Promise<string> {
    const before = this.#before(actor);
    const reply = await this.#get(actor, callback);
    const { status } = reply;
    if (![302, 400, 403, 503].includes(status))
      this.ledger.report("no unexpected error", `the callback answered ${String(status)}`);
    const created = [...this.ledger.sessions.values()].filter(
      (session) => session.createdBy === actor && session.record.credentials !== undefined,
    );
    const { ledger } = this;
    const loggedOut = ["logout", "back-channel logout"].includes(
      before.session?.deletedBy?.kind ?? "",
    )
      ? before.session
      : undefined;
    const left = created.filter(({ isAlive }) => isAlive);
    if (loggedOut !== undefined) {
      this.#count("logout won over a callback");
      // A store that failed may have kept what nobody has the cookie of.
      if (left.length > 0 && !actor.faulted) {
        ledger.report(
          "6 logout wins",
          `${left.map(({ name }) => name).join(", ")} exists, made from ${loggedOut.name}, which was logged out`,
        );
      }
      if (reply.setCookies !== undefined && created.length > 0)
        ledger.report("6 logout wins", `${actor.name} signed in over a logout`);
    }
    const outlived = left.filter((session) => ledger.logouts.isConfirmedFor(session));
    if (outlived.length > 0 && !actor.faulted)
      ledger.report(
        "6 a logout at the provider wins",
        `${actor.name} signed in to ${outlived[0]?.name ?? ""} after it`,
      );
    const denied = created.filter(({ record }) =>
      this.#hookWeather.denied.has(record.credentials?.token ?? ""),
    );
    if (denied.length > 0)
      ledger.report(
        "a denied user gets no session",
        `${actor.name} signed in to ${denied[0]?.name ?? ""}`,
      );
    if (status === 403) this.#turnedAway.push(actor);
    this.#checkCarried(actor, before.session, left);
    // Whether its tokens went back is seen at the end: nobody waits for that.
    if (loggedOut !== undefined) this.#lostToLogout.push(actor);
    if (status === 503 && left.length > 0 && !actor.faulted)
      ledger.report("R6 never half", `${actor.name} failed and left a session`);
    this.#count(`callback ${String(status)}`);
    return String(status);
  }

  /** An update that was confirmed is in the store, and in what was confirmed. */
  #checkUpdated(
    actor: RunningActor,
    session: Session | undefined,
    tag: string,
    after: JsonObject,
  ): void {
    const { ledger } = this;
    this.#count("data updated");
    if (session === undefined || !tagsIn(session.record).includes(tag))
      ledger.report(
        "no update of the data is lost",
        `${actor.name} was told of ${tag}, and ${session?.name ?? "nothing"} has it not`,
      );
    const { owner, tags } = modelData(after);
    if (!tags.includes(tag))
      ledger.report("no update of the data is lost", `${actor.name} was given data without ${tag}`);
    if (owner !== session?.record.id_info?.sub)
      ledger.report(
        "data stays with its person",
        `${actor.name} was given the data of ${JSON.stringify(owner)}`,
      );
  }

  /** A sign-in of the same person keeps the data, unless the hook replaces it. */
  #checkCarried(actor: RunningActor, from: Session | undefined, created: readonly Session[]): void {
    if (from?.deletedBy !== actor || actor.faulted || this.#scenario.signInHook === "replaces")
      return;
    for (const session of created) {
      if (session.record.id_info?.sub !== from.record.id_info?.sub) continue;
      const has = tagsIn(session.record);
      const lost = tagsIn(from.record).filter((tag) => !has.includes(tag));
      if (lost.length > 0)
        this.ledger.report(
          "no update of the data is lost",
          `${actor.name} lost ${lost.join()} of ${from.name}`,
        );
      else if (has.some((tag) => tag.startsWith("updated:")))
        this.#count("data carried over by a sign-in");
    }
  }

  async #probe(actor: RunningActor): Promise<Said> {
    const reply = await this.#get(actor, "/idpauth/session?details=true");
    if (reply.status === 503) return { verdict: "unavailable", setCookies: reply.setCookies ?? [] };
    const body = JSON.parse(reply.body ?? "") as {
      authenticated: boolean;
      user: { email: string } | null;
    };
    return {
      verdict: body.authenticated ? "in" : "out",
      email: body.user?.email ?? null,
      status: reply.status,
    };
  }

  // What must hold of every answer

  #before({ browser }: RunningActor): Before {
    const session = this.ledger.sessionOf(browser.cookie);
    const token = session?.record.credentials?.token;
    return {
      session,
      cookie: browser.cookie,
      wasAlive: session?.isAlive === true,
      isSignedIn: session?.isAlive === true && token !== undefined,
      isLoggedOut: this.ledger.logouts.isConfirmedFor(session),
      generation: token === undefined ? -1 : partsOf(token).generation,
      lastActive: session?.lastActive,
      at: epochSeconds(this.scheduler.clock),
    };
  }

  #judge(actor: RunningActor, before: Before, said: Said): string {
    const { ledger } = this;
    const { session } = before;
    this.#count(`answer ${said.verdict}`);
    if (said.verdict === "unavailable") {
      if ((said.setCookies ?? []).length > 0)
        ledger.report("7 an outage signs nobody out", `${actor.name} got a cookie with a 503`);
      const { prompt, events } = this.#scenario;
      const isOthersTrouble =
        events.every(({ kind }) => kind === "unknown key") && actor.browser.user !== UNLUCKY;
      if (prompt && (events.length === 0 || isOthersTrouble))
        ledger.report("no outage out of nothing", `${actor.name} was told 503`);
      return "503";
    }
    const name = session?.name ?? "no session";
    if (said.verdict === "out") {
      if (before.isSignedIn && session !== undefined && !this.#mayBeOut(session, before)) {
        ledger.report(
          "7 an outage signs nobody out",
          `${actor.name} was told that nobody is signed in to ${name}`,
        );
      }
      return "signed out";
    }
    if (session === undefined || !before.wasAlive) {
      ledger.report(
        "6 logout wins",
        `${actor.name} was let in with ${name}, which was gone before`,
      );
      return "signed in";
    }
    if (before.isLoggedOut)
      ledger.report(
        "6 a logout at the provider wins",
        `${actor.name} was let in with ${name} after it was confirmed`,
      );
    const user = session.record.id_info?.sub;
    if (said.email !== undefined && said.email !== `${String(user)}@example.com`) {
      ledger.report(
        "everybody keeps their own identity",
        `${actor.name} was told to be ${String(said.email)}`,
      );
    }
    if (said.token !== undefined && said.token !== "") {
      const { family: id, generation } = partsOf(said.token);
      const family = this.#provider.families.get(id);
      if (family?.user !== user || partsOf(session.record.credentials?.token ?? "").family !== id) {
        ledger.report(
          "everybody keeps their own identity",
          `${actor.name} was given ${said.token}`,
        );
      }
      const isForApi = said.api !== undefined;
      if (said.token.split(".")[3] !== said.api)
        ledger.report(
          "a token for one API goes to no other",
          `${actor.name} was given ${said.token}`,
        );
      if (
        this.#scenario.hasRefreshHook &&
        !isForApi &&
        generation > 0 &&
        !tagsIn(session.record).includes(refreshTag(said.token))
      ) {
        ledger.report(
          "only reviewed tokens are given",
          `${actor.name} was given ${said.token}, which onRefresh has not accepted`,
        );
      }
      if (generation < before.generation && !isForApi) {
        ledger.report(
          "3 a late request uses the refreshed tokens",
          `${actor.name} was given ${said.token}, ${String(before.generation)} was stored before`,
        );
      }
      if ((family?.expiries[generation] ?? 0) <= before.at) {
        ledger.report(
          "3 a late request uses the refreshed tokens",
          `${actor.name} was given ${said.token}, which had expired`,
        );
      }
    }
    this.#checkCaps(actor, session, before, said);
    return "signed in";
  }

  #mayBeOut(session: Session, before: Before): boolean {
    const { sessionMaxAge, sessionIdleTimeout } = this.#scenario;
    const now = epochSeconds(this.scheduler.clock);
    if (!session.isAlive || session.endedBy !== undefined) return true;
    if (sessionMaxAge !== null && now > Number(session.record.idp_login_at) + sessionMaxAge)
      return true;
    return sessionIdleTimeout !== null && now - (before.lastActive ?? now) > sessionIdleTimeout;
  }

  #checkCaps(actor: RunningActor, session: Session, before: Before, { token = "" }: Said): void {
    const { sessionMaxAge, sessionIdleTimeout } = this.#scenario;
    const { at } = before;
    // The gate is asked again after a refresh, so what was stored beyond the cap lets nobody in.
    const judgedAt = Math.max(at, session.storedAt.get(token) ?? 0);
    const isTooOld =
      sessionMaxAge !== null && judgedAt > Number(session.record.idp_login_at) + sessionMaxAge;
    const isTooIdle =
      sessionIdleTimeout !== null && at - (session.lastActive ?? at) > sessionIdleTimeout;
    if (isTooOld || isTooIdle)
      this.ledger.report(
        "caps are never lifted",
        `${actor.name} was let in beyond ${isTooOld ? "max_age" : "idle"}`,
      );
    if (
      sessionIdleTimeout !== null &&
      actor.kind !== "setup" &&
      (session.lastActive ?? 0) < at &&
      session.isAlive &&
      !actor.faulted &&
      // A stamp that the store can't write now fails no request.
      !this.scheduler.hasPausedWrites(actor.process)
    ) {
      this.ledger.report("every access stamps", `${actor.name} left no stamp on ${session.name}`);
    }
  }

  #checkCookies(
    actor: RunningActor,
    target: string,
    before: Before,
    { status, setCookies = [] }: Reply,
  ): void {
    const { ledger } = this;
    if (status === 503 && setCookies.length > 0)
      ledger.report("7 an outage signs nobody out", `${actor.name} got a cookie with a 503`);
    for (const line of setCookies) {
      const isCleared = line.includes("Max-Age=0");
      const isOwnEnd = target.includes("/logout/") || actor.browser.wasTurnedAway;
      if (isCleared && !isOwnEnd)
        ledger.report("7 an outage signs nobody out", `${actor.name} lost its cookie`);
      if (isCleared && before.session?.isAlive === true)
        ledger.report(
          "6 logout wins",
          `${actor.name} lost its cookie, but ${before.session.name} lives`,
        );
      if (isCleared) continue;
      const value = /=([^;]*)/.exec(line)?.[1];
      const session = ledger.sessionOf(value);
      if (session === undefined)
        ledger.report("R6 never half", `${actor.name} got a cookie that leads nowhere`);
      // A store that failed while it carried over another tab's login costs that, and never the
      // sign-in.
      else if (actor.faulted) this.#count("a carry-over that the store may have lost");
      else ledger.checkUsed(session, session.record);
      const isReplaced = value !== before.cookie && before.session?.isAlive === true;
      if (isReplaced)
        ledger.report(
          "7 an outage signs nobody out",
          `${actor.name} got a cookie in place of ${before.session.name}, which lives`,
        );
    }
  }

  // What befalls them

  #happen({ kind, process: number }: PlannedEvent): void {
    if (!this.#faultsGoOn) return;
    const { scheduler } = this;
    const { weather } = this.#provider;
    const nobody: Owner = { process: undefined, actor: undefined };
    const steps = 2 + this.#random.below(30);
    this.#count(`event ${kind}`);
    scheduler.note(`*** ${kind}`);
    const later = (what: string, delay: number, run: () => void) =>
      scheduler.add(`*** ${what}`, nobody, run, { delay, steps });
    switch (kind) {
      case "hook trouble":
        this.#hookWeather.trouble = 0.5;
        later(
          "the hooks work again",
          this.#random.pick([0, 500, 8_000]),
          () => (this.#hookWeather.trouble = 0),
        );
        return;
      case "denial":
        this.#hookWeather.denies = true;
        if (this.#random.chance(0.3))
          later("the hooks deny nobody any more", 0, () => (this.#hookWeather.denies = false));
        return;
      case "crash": {
        const process = this.#processes[number];
        if (process === undefined || process.crashed) return;
        scheduler.crash(process);
        for (const actor of this.#actors)
          if (actor.process === process && !actor.settled) actor.faulted = true;
        scheduler.note(`*** ${process.name} is dead`);
        this.#processes[number] = this.#startProcess(number);
        return;
      }
      case "store outage":
        this.#store.isDown = true;
        later(
          "the store is back",
          this.#random.pick([0, 500, 3_000, 12_000]),
          () => (this.#store.isDown = false),
        );
        return;
      case "store hiccups":
        this.#store.hiccups = 0.2;
        later("no more hiccups", 0, () => (this.#store.hiccups = 0));
        return;
      case "provider outage":
        weather.isDown = true;
        later(
          "the provider is back",
          this.#random.pick([0, 500, 8_000, 35_000]),
          () => (weather.isDown = false),
        );
        return;
      case "keys outage":
        weather.jwksDown = true;
        later("the keys are back", this.#random.pick([0, 3_000]), () => (weather.jwksDown = false));
        return;
      case "unknown key":
        weather.unknownKey = UNLUCKY;
        later(
          "the key is published",
          this.#random.pick([0, 3_000, 12_000]),
          () => (weather.unknownKey = undefined),
        );
        return;
      case "slow provider": {
        const slow = () => this.#random.pick([0, 3_000, 7_000, 20_000, 29_000, 45_000]);
        weather.slowness = Array.from({ length: 1 + this.#random.below(3) }, () => [
          slow(),
          slow(),
        ]);
        return;
      }
      case "withdrawal": {
        const user = this.#browsers[this.#random.below(this.#browsers.length)]?.user ?? "";
        this.#provider.withdraw(user);
        scheduler.note(`*** ${user} withdraws the grant at the provider`);
        return;
      }
    }
  }

  async #settle(): Promise<void> {
    const limit = this.scheduler.stepsTaken + MOST_STEPS;
    while (this.ledger.violations.length === 0 && (await this.scheduler.step())) {
      if (this.scheduler.stepsTaken > limit) {
        this.ledger.report("everything settles", "there is no end to it");
        return;
      }
    }
  }

  #checkSettled(requestsBefore: number): void {
    const { ledger } = this;
    for (const actor of this.#actors) {
      if (!actor.settled && !actor.process.crashed)
        ledger.report("everything settles", `${actor.name} never got an answer`);
    }
    const { events, prompt, actors, users } = this.#scenario;
    const undisturbed = [
      "probe",
      "credentials",
      "guard",
      "late",
      "login",
      "accessToken",
      "api orders",
      "api billing",
    ];
    if (events.length > 0 || !prompt || !actors.every(({ kind }) => undisturbed.includes(kind)))
      return;
    // Nothing went wrong and nobody left: as many token requests as there are people whose token
    // has expired, and one for each of their APIs.
    const made = ledger.requests.length - requestsBefore;
    const needed = new Set(
      actors.flatMap(({ kind, browser }) =>
        apiOf(kind) === undefined ? [] : `${kind} ${String(browser)}`,
      ),
    ).size;
    if (needed > 1 && made === 1 + needed) this.#count("one token request for each API");
    if (made > users.length + needed)
      ledger.report("1 one token request", `${String(made)} token requests`);
    if (made === 1) this.#count("one token request for all");
  }

  /** The faults are over. Whoever is signed in is served again, within bounds. */
  async #recover(): Promise<void> {
    const { scheduler, ledger } = this;
    this.#faultsGoOn = false;
    this.#store.isDown = false;
    this.#store.hiccups = 0;
    Object.assign(this.#hookWeather, { trouble: 0, denies: false });
    Object.assign(this.#provider.weather, {
      isDown: false,
      jwksDown: false,
      unknownKey: undefined,
      slowness: [],
    });
    scheduler.orderly = true;
    for (const browser of this.#browsers) {
      const process = this.#pickProcess(this.#random.below(this.#processes.length));
      const actor: RunningActor = {
        name: "afterwards",
        kind: "probe",
        faulted: false,
        pace: 1,
        browser,
        process,
        settled: false,
      };
      const began = scheduler.clock.monotonic();
      let said: Said = { verdict: "unavailable" };
      const isUnserved = () => said.verdict === "unavailable";
      let before = this.#before(actor);
      const wasExpired = Number(before.session?.record.id_info?.exp) <= before.at;
      while (isUnserved() && scheduler.clock.monotonic() - began < RECOVERY) {
        let isDone = false as boolean;
        before = this.#before(actor);
        scheduler.current = { process, actor };
        const probing = this.#probe(actor).then((answer) => {
          said = answer;
        });
        probing.then(
          () => (isDone = true),
          (error: unknown) => {
            isDone = true;
            ledger.report("no unexpected error", `afterwards: ${String(error)}`);
          },
        );
        await turn();
        while (!isDone && (await scheduler.step()));
        if (ledger.violations.length > 0) return;
        if (!isDone) {
          ledger.report("everything settles", "the probe afterwards never got an answer");
          return;
        }
        if (isUnserved()) {
          this.#count("retry afterwards");
          const until = scheduler.clock.monotonic() + 1_100;
          let isOver = false as boolean;
          scheduler.add("", { process: undefined, actor: undefined }, () => (isOver = true), {
            delay: until - scheduler.clock.monotonic(),
          });
          while (!isOver) await scheduler.step();
        }
      }
      if (isUnserved()) {
        ledger.report("everything settles", `${browser.user} is not served again`);
        return;
      }
      this.#checkAfterwards(browser, actor, before, said, wasExpired);
    }
    await this.#settle();
  }

  #checkAfterwards(
    browser: Browser,
    actor: RunningActor,
    before: Before,
    said: Said,
    wasExpired: boolean,
  ): void {
    const { ledger } = this;
    const { session } = before;
    if (said.verdict === "in") {
      this.#count("afterwards signed in");
      this.#judge(actor, before, said);
      // One that its holder could not give back waits for the next expiry.
      const isExcused = this.#scenario.events.length > 0 || !this.#scenario.prompt;
      if (
        session?.record.idp_state.lease !== undefined &&
        session.isAlive &&
        (!isExcused || wasExpired)
      ) {
        ledger.report("everything settles", `a lease stays behind on ${session.name}`);
      }
      return;
    }
    if (session === undefined) {
      const isLoggedOut = this.#actors.some(
        (other) => other.kind === "logout" && other.browser === browser && other.settled,
      );
      if (!isLoggedOut && !browser.wasTurnedAway && !this.#scenario.forgetsCookie)
        ledger.report("7 an outage signs nobody out", `${browser.user} has no cookie any more`);
      this.#count("afterwards signed out");
      return;
    }
    if (session.isAlive) {
      const isRight = session.record.credentials === undefined || this.#mayBeOut(session, before);
      const cause =
        session.record.credentials === undefined ? "anonymous" : (session.endedBy ?? "cap");
      if (!isRight)
        ledger.report(
          "7 an outage signs nobody out",
          `${browser.user} is not signed in to ${session.name} any more`,
        );
      this.#count(`afterwards out by ${cause}`);
      return;
    }
    const by = session.deletedBy as RunningActor | undefined;
    if (session.endedBy !== undefined) {
      this.#count(`afterwards out by ${session.endedBy}`);
    } else if (
      browser.wasTurnedAway ||
      [...ledger.sessions.values()].some(
        (next) => next.createdBy === by && next.endedBy === LOGGED_OUT,
      )
    ) {
      // The logout ended the session that replaced this one, before its cookie reached the browser.
      this.#count("afterwards out by a logout of the next session");
    } else if (by !== undefined && by.kind !== "logout" && (by.faulted || by.process.crashed)) {
      // The new cookie never reached the browser: the callback died, or the store lost the answer
      // of its delete.
      this.#count("afterwards out by a lost callback");
    } else if (
      by !== undefined &&
      this.#actors.filter((other) => other.browser === browser && other.kind !== "probe").length > 1
    ) {
      // Two sign-ins of one browser at once: the cookie that came last is not the session that was
      // made last.
      const isRaced =
        this.#actors.filter(
          (other) =>
            ["callback", "signIn", "login", "logout"].includes(other.kind) &&
            other.browser === browser,
        ).length > 1;
      if (!isRaced)
        ledger.report("7 an outage signs nobody out", `${session.name} is gone by ${by.name}`);
      this.#count("afterwards out by a race of sign-ins");
    } else {
      ledger.report(
        "7 an outage signs nobody out",
        `${session.name} is gone by ${by?.name ?? "nobody"}`,
      );
    }
  }

  /**
   * `onSignOut` runs at most once for a session, and for each that its user ended or whose limit
   * was noticed, if the store responded in time.
   */
  #checkSignOuts(): void {
    const sessions = [...this.ledger.sessions.values()].filter(
      ({ record }) => record.credentials !== undefined,
    );
    const disturbances: readonly EventKind[] = ["crash", "store outage", "store hiccups"];
    if (
      !this.#scenario.prompt ||
      this.#scenario.events.some(({ kind }) => disturbances.includes(kind))
    )
      return;
    for (const user of new Set(sessions.map(({ record }) => record.id_info?.sub))) {
      const own = sessions.filter(({ record }) => record.id_info?.sub === user);
      const ended = own.filter(
        ({ record, deletedBy }) =>
          deletedBy?.kind === "logout" || record.idp_state.ended !== undefined,
      );
      const runs = this.#hookWeather.signOuts.filter((sub) => sub === user).length;
      if (runs >= ended.length && runs <= own.length) continue;
      const told = `${String(runs)} times for ${String(own.length)} sessions of ${String(user)}, of which ${String(ended.length)} ended`;
      this.ledger.report("onSignOut runs once", told);
    }
  }

  #checkEnd(): void {
    const { ledger } = this;
    this.#checkSignOuts();
    // A failed logout goes on in the background, unless its process died.
    for (const logout of ledger.logouts.tokens) {
      const { process } = logout.carrier as RunningActor;
      if (!logout.isPosted || (process.crashed && !logout.isConfirmed)) continue;
      const isLeft = (session: Session) =>
        session.isAlive &&
        session.createdBy?.faulted !== true &&
        ledger.logouts.covers(logout, session);
      const left = [...ledger.sessions.values()].filter(isLeft);
      if (left.length > 0)
        ledger.report(
          "6 a logout at the provider wins",
          `${left[0]?.name ?? ""} is left in the end`,
        );
    }
    for (const family of this.#provider.families.values()) {
      const denied = this.#turnedAway.find((actor) => actor === family.createdBy);
      if (
        denied === undefined ||
        denied.faulted ||
        denied.process.crashed ||
        family.revocationAsked
      )
        continue;
      ledger.report(
        "tokens of a denied user are revoked",
        `${denied.name} was denied and kept ${family.id}`,
      );
    }
    for (const family of this.#provider.families.values()) {
      const loser = this.#lostToLogout.find((actor) => actor === family.createdBy);
      if (loser === undefined || loser.faulted || loser.process.crashed || family.revocationAsked)
        continue;
      if (this.#signedInAnew(family.user, loser))
        this.#count("late tokens dropped after a new sign-in");
      else
        ledger.report(
          "6 late tokens are revoked",
          `${loser.name} lost to a logout and kept ${family.id}`,
        );
    }
    for (const session of ledger.sessions.values()) {
      const { credentials } = session.record;
      if (session.deletedBy?.kind !== "logout" || credentials === undefined) continue;
      const id = partsOf(credentials.token).family;
      const family = this.#provider.families.get(id);
      if (family === undefined || family.revoked) continue;
      const isExcused =
        family.revocationAsked ||
        session.deletedBy.faulted ||
        (session.deletedBy as RunningActor).process.crashed ||
        ledger.requests.some(
          (request) =>
            partsOf(request.token).family === id &&
            (request.process.crashed ||
              request.state === "lost" ||
              request.actor?.faulted === true),
        );
      if (isExcused) this.#count("logout without revocation, excused");
      else if (this.#signedInAnew(family.user, session.deletedBy))
        this.#count("late tokens dropped after a new sign-in");
      else
        ledger.report(
          "6 late tokens are revoked",
          `${id} is still good at the provider after the logout of ${session.name}`,
        );
    }
  }

  /**
   * Some providers end the whole grant with one token, so tokens that came too late are only
   * dropped then.
   */
  #signedInAnew(user: string, but: unknown): boolean {
    return [...this.ledger.sessions.values()].some(({ createdBy, record }) => {
      const { credentials } = record;
      if (
        createdBy === but ||
        credentials === undefined ||
        !this.#actors.some((actor) => actor === createdBy)
      )
        return false;
      return this.#provider.families.get(partsOf(credentials.token).family)?.user === user;
    });
  }
}

function apiOf(kind: string): string | undefined {
  return /^api (.*)/.exec(kind)?.[1];
}

async function told<Value>(
  answer: Promise<Value>,
  tokenOf: (value: Value) => string | undefined,
): Promise<Said> {
  try {
    const token = tokenOf(await answer);
    return token === undefined ? { verdict: "out" } : { verdict: "in", token };
  } catch (error) {
    if (!isOutage(error)) throw error;
    return { verdict: "unavailable" };
  }
}

function describe(scenario: Scenario): string {
  const { actors, events, ...rest } = scenario;
  const cast = actors.map(
    ({ kind, browser, process }) => `${kind}@p${String(process + 1)}/b${String(browser + 1)}`,
  );
  return [
    ...cast,
    ...events.map(({ kind, process }) => `(${kind} p${String(process + 1)})`),
    JSON.stringify(rest),
  ].join(" ");
}

/** A signed-in user whose grant is gone gets an error that says so; to the model it is no token. */
function nullWithoutGrant(error: unknown): null {
  if (error instanceof ApiTokenError && error.reason === "refresh_rejected") return null;
  throw error;
}
