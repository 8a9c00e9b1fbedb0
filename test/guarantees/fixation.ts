import type { FrameworkAdapter, IdpAuth } from "../../src/auth/adapter-types.js";
import { createIdpAuthOver } from "../../src/auth/create-idp-auth.js";
import type { Reply } from "../../src/http/reply.js";
import type { IdpRequest } from "../../src/http/request.js";
import { textReply } from "../support/text-reply.js";
// Loaded now: loading them by their first use would be I/O.
import "../../src/endpoints/page-endpoints.js";
import "../../src/pages/common-pages.js";
import type { Outcome } from "./interleaving.js";
import { Ledger, SECRET_KEY, type Session } from "./ledger.js";
import { ISSUER, ModelProvider } from "./model-provider.js";
import { Random, seedTheWorld } from "./random.js";
import { ScheduledStore } from "./scheduled-store.js";
import { Scheduler, turn, type Actor, type Process } from "./scheduler.js";

const PLAIN_HOST: FrameworkAdapter<IdpRequest> = { name: "plain", request: (raw) => raw };
const COOKIE = "idpauth";
const MOST_STEPS = 6_000;
const LOGIN = "/idpauth/login/";

interface RunningProcess extends Process {
  readonly auth: IdpAuth<IdpRequest>;
}

/** One of two browsers: that of ada, and that of mallory, who has planted a cookie in ada's. */
interface Browser {
  readonly user: "ada" | "mallory";
  /** The cookie of the browser's own path. */
  cookie: string | undefined;
  /** A cookie of the same name, planted under another path. */
  planted: string | undefined;
}

interface RunningActor extends Actor {
  readonly browser: Browser;
  readonly process: RunningProcess;
  isSettled: boolean;
  /** It follows a login that another site may have begun. */
  isMarked: boolean;
}

/** The login whose cookie and state mallory knows. */
interface PlantedLogin {
  readonly state: string;
  readonly cookie: string;
  /** The codes that the provider gave to each user for it. */
  readonly codes: Readonly<Record<Browser["user"], readonly string[]>>;
}

/** A response, and the cookies that its request sent. */
interface Sent extends Reply {
  readonly sent: readonly string[];
  /** The only one was that of a session whose logout had been confirmed. */
  readonly wasLoggedOut: boolean;
}

/** How a browser was given a session. */
interface Given {
  /** The cookie. */
  readonly value: string;
  readonly wasLoggedOut: boolean;
  /** What the request's cookies led to. */
  readonly led: readonly Session[];
}

/**
 * Runs one interleaving of two browsers, one of them an attacker's: mallory knows the session cookie
 * that ada's browser has, and the state of its login, and calls the callback at any moment. The real
 * code of one or two processes runs; chance decides everything else.
 */
export async function runFixation(seed: number, count: (kind: string) => void): Promise<Outcome> {
  const random = new Random(seed);
  const run = new Fixation(random, count);
  const restore = seedTheWorld(random, (bytes) => run.ledger.made(bytes));
  try {
    await run.run();
  } finally {
    restore();
  }
  const { ledger, scheduler } = run;
  return {
    violations: ledger.violations,
    trace: scheduler.trace,
    steps: scheduler.stepsTaken,
  };
}

class Fixation {
  readonly scheduler: Scheduler;
  readonly ledger: Ledger;
  readonly #random: Random;
  readonly #count: (kind: string) => void;
  readonly #store: ScheduledStore;
  readonly #provider: ModelProvider;
  readonly #processes: RunningProcess[] = [];
  readonly #ada: Browser = { user: "ada", cookie: undefined, planted: undefined };
  readonly #mallory: Browser = { user: "mallory", cookie: undefined, planted: undefined };
  readonly #actors: RunningActor[] = [];
  /** The browser that was given each signed-in session. */
  readonly #givenTo = new Map<string, Browser>();
  /** Cookies whose logout was confirmed. */
  readonly #loggedOut = new Set<string>();
  /** The requests whose repeated callback began a login, by state. */
  readonly #begun = new Map<string, string>();
  readonly #isPlantedFirst: boolean;
  #planted: PlantedLogin | undefined;

  constructor(random: Random, count: (kind: string) => void) {
    this.#random = random;
    this.#count = count;
    this.scheduler = new Scheduler(random, count);
    this.ledger = new Ledger(this.scheduler, (id) => this.#provider.families.get(id));
    this.#store = new ScheduledStore(this.scheduler, this.ledger);
    const kind = { rotates: true, endsGrant: false, namesSession: false };
    this.#provider = new ModelProvider(this.scheduler, this.ledger, kind);
    this.#isPlantedFirst = random.chance(0.5);
  }

  async run(): Promise<void> {
    const { scheduler, ledger } = this;
    const processes = 1 + this.#random.below(2);
    for (let number = 0; number < processes; number += 1) this.#processes.push(this.#start(number));
    scheduler.orderly = true;
    await this.#setUp();
    scheduler.orderly = false;
    scheduler.prompt = this.#random.chance(0.7);
    scheduler.trace.push("---");
    const nobody = { process: undefined, actor: undefined };
    for (let number = 3 + this.#random.below(5); number > 0; number -= 1)
      scheduler.add("", nobody, () => this.#begin(), {
        steps: this.#random.chance(0.5) ? 0 : this.#random.below(30),
      });
    if (this.#random.chance(0.3))
      scheduler.add("", nobody, () => this.#trouble(), { steps: this.#random.below(25) });
    while (ledger.violations.length === 0 && (await scheduler.step()))
      if (scheduler.stepsTaken > MOST_STEPS)
        ledger.report("everything settles", "there is no end to it");
    for (const actor of this.#actors)
      if (!actor.isSettled && !actor.process.crashed)
        ledger.report("everything settles", `${actor.name} never got an answer`);
  }

  #start(number: number): RunningProcess {
    const state: Process = { name: `p${String(number + 1)}`, crashed: false };
    const auth = createIdpAuthOver(
      {
        env: {},
        baseUrl: "http://localhost",
        secretKey: SECRET_KEY,
        clientId: "client",
        clientSecret: "client secret",
        issuer: ISSUER,
        scope: ["openid", "email"],
        store: this.#store.of(state),
        clock: this.scheduler.clockOf(state),
        log: ({ message }) => {
          if (/[ar]t\.f\d/.test(message)) this.ledger.report("nothing secret is logged", message);
        },
      },
      PLAIN_HOST,
      () => this.#provider.of(state),
    );
    auth.start();
    auth.on("failure", ({ reason }) => {
      this.#count(`failure ${reason}`);
      if (reason === "unexpected") this.ledger.report("no unexpected error", "an event says so");
    });
    return Object.assign(state, { auth });
  }

  /** Sometimes ada is signed in. Then mallory begins a login, and plants its cookie. */
  async #setUp(): Promise<void> {
    const [ada, mallory] = [this.#ada, this.#mallory];
    const isSignedIn = this.#random.chance(0.5);
    if (isSignedIn) await this.#perform(ada, (actor) => this.#signIn(actor, LOGIN, "ada"));
    await this.#perform(mallory, async (actor) => {
      const location = (await this.#get(actor, LOGIN)).headers["Location"] ?? "";
      const approve = (user: Browser["user"]) => this.#provider.approve(location, user);
      this.#planted = {
        state: new URL(location).searchParams.get("state") ?? "",
        cookie: mallory.cookie ?? "",
        codes: { ada: [approve("ada"), approve("ada")], mallory: [approve("mallory")] },
      };
    });
    if (isSignedIn && this.#random.chance(0.7)) ada.planted = mallory.cookie;
    else ada.cookie = mallory.cookie;
  }

  async #perform(browser: Browser, work: (actor: RunningActor) => Promise<unknown>): Promise<void> {
    let isDone = false as boolean;
    const actor = this.#actor("setup", browser);
    this.scheduler.current = { process: actor.process, actor };
    void work(actor).finally(() => (isDone = true));
    await turn();
    while (!isDone) await this.scheduler.step();
  }

  #actor(kind: string, browser: Browser): RunningActor {
    const living = this.#processes.filter(({ crashed }) => !crashed);
    return {
      name: `${kind}#${String(this.#actors.length + 1)}`,
      kind,
      pace: this.#random.pick([1, 1, 0.1, 6]),
      faulted: false,
      browser,
      process: this.#random.pick(living),
      isSettled: false,
      isMarked: false,
    };
  }

  #begin(): void {
    const kinds = ["callback", "callback", "callback", "callback", "signIn", "probe", "logout"];
    const browser = this.#random.chance(0.5) ? this.#ada : this.#mallory;
    const actor = this.#actor(this.#random.pick(kinds), browser);
    this.#actors.push(actor);
    this.#count(`${browser.user} ${actor.kind}`);
    this.scheduler.current = { process: actor.process, actor };
    this.scheduler.note(`${browser.user} begins`);
    this.#act(actor).then(
      () => (actor.isSettled = true),
      (error: unknown) => {
        actor.isSettled = true;
        this.ledger.report("no unexpected error", `${actor.name}: ${String(error)}`);
      },
    );
  }

  async #act(actor: RunningActor): Promise<void> {
    const { user } = actor.browser;
    switch (actor.kind) {
      case "probe":
        return this.#probe(actor);
      case "logout":
        return this.#logOut(actor);
      case "signIn":
        return this.#signIn(actor, LOGIN, user);
      default:
        return this.#callBack(actor, this.#aCallback(user));
    }
  }

  /** What this browser may send with the planted state: a code of its own user, or none. */
  #aCallback(user: Browser["user"]): string {
    const { state, codes } = this.#planted as PlantedLogin;
    const code = this.#random.pick([...codes[user], ...codes[user], "made-up"]);
    const query = this.#random.chance(0.1) ? { state, error: "access_denied" } : { state, code };
    return `/idpauth/login-callback?${new URLSearchParams(query).toString()}`;
  }

  async #signIn(actor: RunningActor, login: string, user: Browser["user"]): Promise<void> {
    const reply = await this.#get(actor, login);
    const location = reply.headers["Location"] ?? "";
    if (reply.status !== 302 || !location.startsWith(ISSUER)) return;
    const state = new URL(location).searchParams.get("state") ?? "";
    const code = this.#provider.approve(location, user);
    const query = new URLSearchParams({ state, code }).toString();
    await this.#callBack(actor, `/idpauth/login-callback?${query}`);
  }

  /** Follows the login that a repeated callback leads to, as a browser does. */
  async #callBack(actor: RunningActor, target: string): Promise<void> {
    const { status, headers, setCookies = [], wasLoggedOut } = await this.#get(actor, target);
    this.#count(`callback ${String(status)}`);
    if (![302, 400, 409, 503].includes(status))
      this.ledger.report("no unexpected error", `the callback answered ${String(status)}`);
    const again = headers["Location"] ?? "";
    if (!again.startsWith(LOGIN)) return;
    this.#count("login begun again");
    const { ledger } = this;
    if (setCookies.length > 0)
      ledger.report("a repeat gives no session", `${actor.name} got a cookie`);
    if (!again.includes("cross_site=true"))
      ledger.report("a repeat's login is marked", `${actor.name} was sent to ${again}`);
    if (wasLoggedOut)
      ledger.report("6 logout wins", `${actor.name} was sent to a login after its logout`);
    const state = new URL(target, "http://localhost").searchParams.get("state") ?? "";
    const request = `${actor.process.name} ${target}`;
    // The same address at once in one process gets one answer.
    if ((this.#begun.get(state) ?? request) !== request)
      ledger.report("a state begins a login again once", `${actor.name} was sent to a second one`);
    this.#begun.set(state, request);
    actor.isMarked = true;
    // At the provider, this browser may have another user's session: mallory's, whoever put it there.
    await this.#signIn(actor, again, this.#random.pick([actor.browser.user, "mallory"]));
  }

  async #probe(actor: RunningActor): Promise<void> {
    const reply = await this.#get(actor, "/idpauth/session?details=true");
    if (reply.status === 503) return;
    const { user } = JSON.parse(reply.body ?? "") as { user: { email: string } | null };
    if (user === null) return;
    this.#count("told to be signed in");
    const own = reply.sent.filter((value) => this.#givenTo.get(value) === actor.browser);
    const isOwn = own.some(
      (value) =>
        `${String(this.ledger.sessionOf(value)?.record.id_info?.sub)}@example.com` === user.email,
    );
    if (!isOwn)
      this.ledger.report(
        "nobody has a session that another browser got",
        `${actor.name} of ${actor.browser.user} was told to be ${user.email}`,
      );
  }

  async #logOut(actor: RunningActor): Promise<void> {
    const { status, sent } = await this.#get(actor, "/idpauth/logout/?response=json");
    const [only] = sent;
    if (status === 200 && only !== undefined && sent.length === 1) {
      this.#loggedOut.add(only);
      if (this.ledger.sessionOf(only)?.isAlive === true)
        this.ledger.report("6 logout wins", `${actor.name} was confirmed`);
    }
  }

  /** Ada's browser sends what it has. Mallory chooses, and still knows the planted cookie. */
  #valuesOf({ user, cookie, planted }: Browser): readonly string[] {
    if (user === "mallory" && this.#planted !== undefined && this.#random.chance(0.5))
      return [this.#planted.cookie];
    const values = this.#isPlantedFirst ? [planted, cookie] : [cookie, planted];
    return values.filter((value) => value !== undefined);
  }

  async #get(actor: RunningActor, target: string): Promise<Sent> {
    const { browser, process } = actor;
    const sent = this.#valuesOf(browser);
    const headers: Readonly<Record<string, string>> = {
      "sec-fetch-site": "none",
      "sec-fetch-mode": "navigate",
      "sec-fetch-dest": "document",
      ...(sent.length > 0 && { cookie: sent.map((value) => `${COOKIE}=${value}`).join("; ") }),
    };
    const handled = process.auth.handle({
      method: "GET",
      target,
      scheme: "http",
      host: "localhost",
      header: (name) => headers[name],
    });
    if (handled === undefined) throw new Error(`${target} is not answered`);
    const wasLoggedOut = sent.length === 1 && this.#loggedOut.has(sent[0] ?? "");
    const led = sent.flatMap((value) => this.ledger.sessionOf(value) ?? []);
    const reply = textReply(await handled);
    for (const line of reply.setCookies ?? []) {
      const value = new RegExp(`^${COOKIE}=([^;]*)`).exec(line)?.[1];
      if (value === undefined) continue;
      browser.cookie = value === "" ? undefined : value;
      const session = this.ledger.sessionOf(browser.cookie);
      if (session?.record.credentials !== undefined)
        this.#gave(actor, session, { value: browser.cookie ?? "", wasLoggedOut, led });
    }
    return { ...reply, sent, wasLoggedOut };
  }

  /** A browser was given a signed-in session. */
  #gave(actor: RunningActor, session: Session, { value, wasLoggedOut, led }: Given): void {
    const { ledger } = this;
    const { browser } = actor;
    const before = this.#givenTo.get(value);
    if (before !== undefined && before !== browser)
      ledger.report("nobody has a session that another browser got", `${browser.user} got one`);
    this.#givenTo.set(value, browser);
    this.#count(`${browser.user} signed in`);
    if (value === this.#planted?.cookie)
      ledger.report("6 (fixation)", `${browser.user} is signed in with the planted cookie`);
    if (wasLoggedOut && !actor.isMarked && actor.kind === "callback")
      ledger.report("6 logout wins", `${actor.name} signed in over a logout`);
    const subject = String(session.record.id_info?.sub);
    for (const { record, deletedBy, name } of led) {
      // Requests for the same address at once share one actor's work.
      const isReplaced = deletedBy?.kind === actor.kind && record.credentials !== undefined;
      const replaced = String(record.id_info?.sub);
      if (actor.isMarked && isReplaced && replaced !== subject)
        ledger.report(
          "nobody becomes another user without the question",
          `${name} of ${replaced} became ${session.name} of ${subject}`,
        );
    }
  }

  #trouble(): void {
    const { scheduler } = this;
    const nobody = { process: undefined, actor: undefined };
    const steps = 2 + this.#random.below(20);
    const kind = this.#random.pick(["store outage", "store hiccups", "crash", "slow provider"]);
    this.#count(`event ${kind}`);
    scheduler.note(`*** ${kind}`);
    if (kind === "store outage") {
      this.#store.isDown = true;
      scheduler.add("*** the store is back", nobody, () => (this.#store.isDown = false), { steps });
    } else if (kind === "store hiccups") {
      this.#store.hiccups = 0.2;
      scheduler.add("*** no more hiccups", nobody, () => (this.#store.hiccups = 0), { steps });
    } else if (kind === "slow provider") {
      this.#provider.weather.slowness = [[0, this.#random.pick([900, 4_500])]];
    } else {
      const process = this.#random.pick(this.#processes);
      scheduler.crash(process);
      for (const actor of this.#actors)
        if (actor.process === process && !actor.isSettled) actor.faulted = true;
      this.#processes[this.#processes.indexOf(process)] = this.#start(this.#processes.length);
    }
  }
}
