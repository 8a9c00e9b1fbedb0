// 200 requests of one session at two processes, after the ID token has expired. The code in src/
// decides: its sessions, its policy, its lease and its refresh run here on a fake clock. Only the
// network, the provider and the browser are models.
import { createOrphanedTokenRule } from "../../src/access/orphaned-tokens.js";
import { createSessionAccess } from "../../src/access/session-access.js";
import { Owners } from "../../src/access/session-owner.js";
import { createRefresher } from "../../src/access/shared-refresh.js";
import { createApplication } from "../../src/application/application.js";
import { epochSeconds, wait, type Clock } from "../../src/clock.js";
import { isOutage, ProviderRefusedError, ProviderUnavailableError } from "../../src/errors.js";
import { EventHub } from "../../src/events/event-hub.js";
import type { Provider } from "../../src/ports/provider.js";
import type { Registration } from "../../src/ports/registration.js";
import type { SessionStore } from "../../src/ports/session-store.js";
import { createRefreshBackOff } from "../../src/provider/refresh-back-off.js";
import type { SpentRefresh } from "../../src/record/credentials.js";
import type { SessionRecord } from "../../src/record/record.js";
import { createBundledSessions } from "../../src/sessions/bundled-sessions.js";
import { createSealer } from "../../src/sessions/seal.js";
import { createSessionForTests } from "../../src/sessions/sign-in-for-tests.js";
import { createReportedStore } from "../../src/sessions/store-failures.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { UnawaitedTasks } from "../../src/work/unawaited-tasks.js";

export type ProcessName = "A" | "B";

/** When process A is killed, as a step of its refresh. */
export type Kill = "never" | "before-request" | "before-store" | "after-store";

/** What happens, and when: milliseconds since the browser sent the requests. */
export type RaceEvent = { readonly at: number } & (
  | { readonly kind: "sent" | "killed" | "recovered" }
  | {
      readonly kind: "lease" | "unreachable" | "rotated" | "reuse" | "token-stored" | "finished";
      readonly by: ProcessName;
    }
  | { readonly kind: "token-request"; readonly by: ProcessName; readonly token: number }
  | { readonly kind: "response"; readonly status: 200 | 401 | 503; readonly count: number }
);

export interface RaceOptions {
  readonly kill: Kill;
  /** Seconds after which the provider accepts connections. Default 0: at once. */
  readonly outage?: number;
  /** The store's compare-and-swap. False: every write succeeds, so that two processes can refresh. */
  readonly compares?: boolean;
}

/** How many requests there are, half of them at each process. */
export const REQUESTS = 200;

/** Milliseconds that a message takes one way. */
const TO_PROCESS = 20;
const TO_STORE = 1;
const TO_PROVIDER = 100;

/** Seconds. A unit test compares those of settings with their defaults. */
const TOKEN_LIFE = 3600;
export const HTTP_TIMEOUT = 5;
const SESSION_TTL = 1_209_600;

const CLIENT = { issuer: "https://idp.example", clientId: "app" };
const POLICY = { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null };
const NAMES = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};

/** An event without its time. */
type Happening = RaceEvent extends infer Each
  ? Each extends RaceEvent
    ? Omit<Each, "at">
    : never
  : never;
type Note = (happening: Happening) => void;

/** What the two processes share. */
interface World {
  readonly clock: TestClock;
  readonly store: SessionStore;
  readonly provider: RotatingProvider;
  readonly note: Note;
  readonly compares: boolean;
  isDown(): boolean;
}

/** Jitter: in the middle, each time. */
const middle = () => 0.5;

/** Plays the race to its end. */
export async function simulate(options: RaceOptions): Promise<RaceEvent[]> {
  const { random } = Math;
  // A lease is looked at again after a time with jitter.
  Math.random = middle;
  try {
    return await play(options);
  } finally {
    Math.random = random;
  }
}

async function play({ kill, outage = 0, compares = true }: RaceOptions): Promise<RaceEvent[]> {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const cookie = await signIn(store, clock);
  clock.advance(TOKEN_LIFE * 1000);
  const { events, note } = recorder(clock);
  let isDown = outage > 0;
  if (isDown)
    clock.timer(outage * 1000, () => {
      isDown = false;
      note({ kind: "recovered" });
    });
  const provider = rotatingProvider(clock);
  const world = { clock, store, provider, note, compares, isDown: () => isDown };
  const a = startProcess("A", world, kill);
  const b = startProcess("B", world, "never");

  /** A request that gets 503 is sent again. One that gets no response is sent to process B. */
  async function request(process: RaceProcess): Promise<void> {
    await wait(clock, TO_PROCESS);
    const response = await process.respond(cookie);
    if (response === "killed") return request(b);
    await wait(clock, TO_PROCESS);
    note({ kind: "response", status: response.status, count: 1 });
    if (response.status !== 503) return;
    await wait(clock, response.retryAfter * 1000);
    return request(process);
  }

  note({ kind: "sent" });
  let isOver = false as boolean;
  const requests = Array.from({ length: REQUESTS }, (_, index) => request(index % 2 === 0 ? a : b));
  const all = Promise.all(requests).finally(() => (isOver = true));
  while (!isOver) await clock.advanceAsync(100);
  await all;
  return events;
}

function recorder(clock: Clock): { readonly events: RaceEvent[]; readonly note: Note } {
  const start = clock.monotonic();
  const events: RaceEvent[] = [];
  return {
    events,
    note(happening) {
      const at = clock.monotonic() - start;
      const last = events.at(-1);
      // Equal responses of one moment are one event.
      if (
        happening.kind === "response" &&
        last?.kind === "response" &&
        last.at === at &&
        last.status === happening.status
      )
        events[events.length - 1] = { ...last, count: last.count + happening.count };
      else events.push({ at, ...happening });
    },
  };
}

/** Signs a user in. Returns the value of the header `Cookie`. */
async function signIn(store: SessionStore, clock: Clock): Promise<string> {
  const [cookie = ""] = await createSessionForTests(
    { secure: true, tokens: { refresh_token: tokenNamed(1) } },
    {
      sessions: sessionsIn(store, clock),
      client: CLIENT,
      clientSecret: "secret",
      scope: ["openid", "offline_access"],
      baseUrl: null,
      allowedTenants: null,
      issuerTemplate: undefined,
      stampsActivity: false,
      clock,
      checkedData: () => ({}),
    },
  );
  return cookie.split(";")[0] ?? "";
}

function sessionsIn(store: SessionStore, clock: Clock) {
  return createBundledSessions({
    store: createReportedStore(store, clock),
    sealer: createSealer("a secret key of at least 32 bytes", []),
    clock,
    names: NAMES,
    clients: [CLIENT],
    namesProviders: false,
    keepIdToken: false,
    policy: POLICY,
    cookieName: null,
    publicPath: "/idpauth/",
    sessionTtl: SESSION_TTL,
    debug: false,
  });
}

/** What a guarded route responds. */
interface RaceResponse {
  readonly status: 200 | 401 | 503;
  readonly retryAfter: number;
}

interface RaceProcess {
  /** Returns "killed" as soon as the process is dead. */
  respond(cookie: string): Promise<RaceResponse | "killed">;
}

/** Starts a process of the application, which dies at one step of its refresh. */
function startProcess(name: ProcessName, world: World, kill: Kill): RaceProcess {
  let isDead = false;
  let die: (value: "killed") => void = () => undefined;
  const death = new Promise<"killed">((resolve) => (die = resolve));
  const killed = () => {
    isDead = true;
    world.note({ kind: "killed" });
    die("killed");
  };
  /** Nothing happens any more after the death of its process. */
  const clock: Clock = {
    now: () => world.clock.now(),
    monotonic: () => world.clock.monotonic(),
    timer: (milliseconds, task) =>
      world.clock.timer(milliseconds, () => {
        if (!isDead) task();
      }),
  };
  const events = new EventHub(() => undefined, clock);
  const backOff = createRefreshBackOff(clock, middle);
  const provider = {
    assertReadyToRefresh: backOff.assertReady,
    async refresh(refresh) {
      await backOff.enter(refresh, refresh.signal);
      const startedAt = clock.monotonic();
      if (world.isDown()) {
        await wait(clock, TO_PROVIDER);
        world.note({ kind: "unreachable", by: name });
        const failure = { endpoint: "token", reason: "network" } as const;
        const retryAfter = backOff.failed(refresh, startedAt, failure);
        throw new ProviderUnavailableError("network", { retryAfter });
      }
      const token = Number(refresh.refreshToken.split("-").at(-1));
      world.note({ kind: "token-request", by: name, token });
      await wait(world.clock, TO_PROVIDER);
      const spent = world.provider(token);
      world.note({ kind: spent === undefined ? "reuse" : "rotated", by: name });
      await wait(world.clock, TO_PROVIDER / 2);
      if (kill === "before-store") killed();
      await wait(clock, TO_PROVIDER / 2);
      backOff.responded("token");
      if (spent === undefined) throw new ProviderRefusedError("invalid_grant");
      return spent;
    },
    verifyRefreshed: (_spent, { id_info: idInfo }, refresh) => {
      backOff.succeeded(refresh);
      const now = epochSeconds(clock);
      const renewed = { ...idInfo, iat: now, exp: now + TOKEN_LIFE };
      return Promise.resolve({ idInfo: renewed, userinfoClaims: [] });
    },
    revoke: () => Promise.resolve(true),
  } satisfies Partial<Provider> as unknown as Provider;
  const registration: Registration = {
    ...CLIENT,
    key: undefined,
    name: "provider",
    icon: undefined,
    provider,
  };
  const shared = {
    clock,
    events,
    owners: new Owners([registration]),
    tasks: new UnawaitedTasks(),
    application: createApplication({ options: {}, hookTimeout: 5, dataLimit: 4096, clock, events }),
    orphanedTokens: createOrphanedTokenRule({ revokes: true, clock }),
  };
  const refresher = createRefresher({ ...shared, httpTimeout: HTTP_TIMEOUT, concurrency: 20 });
  const access = createSessionAccess({ ...shared, policy: POLICY, refresher });
  const sessions = sessionsIn(
    remote(world, {
      clock,
      written(record, before) {
        const held = record.idp_state.lease;
        const token = record.credentials?.refresh_token;
        if (held !== undefined && held.nonce !== before?.idp_state.lease?.nonce) {
          world.note({ kind: "lease", by: name });
          if (kill === "before-request") killed();
        } else if (token !== undefined && token !== before?.credentials?.refresh_token) {
          world.note({ kind: "token-stored", by: name });
          if (kill === "after-store") killed();
        } else if (held === undefined && before?.idp_state.lease !== undefined) {
          world.note({ kind: "finished", by: name });
        }
      },
    }),
    clock,
  );

  async function respond(cookie: string): Promise<RaceResponse> {
    try {
      const { authenticated } = await access.access(sessions.open(cookie, true));
      return { status: authenticated ? 200 : 401, retryAfter: 0 };
    } catch (error) {
      if (!isOutage(error)) throw error;
      return { status: 503, retryAfter: (error as ProviderUnavailableError).retryAfter };
    }
  }
  return { respond: (cookie) => Promise.race([respond(cookie), death]) };
}

/** The store as a process reaches it: each way takes time on the process's clock. */
function remote(
  { store, compares }: World,
  process: {
    readonly clock: Clock;
    written(record: SessionRecord, before: SessionRecord | undefined): void;
  },
): SessionStore {
  const { clock } = process;
  const call = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    await wait(clock, TO_STORE);
    const result = await work();
    await wait(clock, TO_STORE);
    return result;
  };
  return {
    ...store,
    get: (key) => call(() => store.get(key)),
    touch: (key, lastActive, expiresAt) => call(() => store.touch(key, lastActive, expiresAt)),
    replace: (key, entry, version) =>
      call(async () => {
        const before = await store.get(key);
        const expected = compares ? version : (before?.version ?? version);
        const isWritten = await store.replace(key, entry, expected);
        if (isWritten) process.written(entry.data as SessionRecord, before?.data as SessionRecord);
        return isWritten;
      }),
  };
}

/** Undefined: the token has been spent, so the provider has revoked all of the session's tokens. */
type RotatingProvider = (token: number) => SpentRefresh | undefined;

/** A provider that rotates refresh tokens and detects reuse (RFC 9700 section 4.14.2). */
function rotatingProvider(clock: Clock): RotatingProvider {
  let newest = 1;
  let isRevoked = false;
  return (token) => {
    isRevoked ||= token !== newest;
    if (isRevoked) return undefined;
    newest += 1;
    const receivedAt = epochSeconds(clock);
    return {
      accessToken: `access-token-${String(newest)}`,
      refreshToken: tokenNamed(newest),
      idToken: undefined,
      scopes: undefined,
      receivedAt,
      accessTokenExpiresAt: receivedAt + TOKEN_LIFE,
    };
  };
}

function tokenNamed(number: number): string {
  return `refresh-token-${String(number)}`;
}
