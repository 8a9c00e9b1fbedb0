import assert from "node:assert/strict";
import type { Answer, ApplicationProcess } from "../application-process.js";
import type { TestUser } from "../people.js";
import type { Suspension } from "../process-options.js";
import { assertSignedIn, assertSignedOut, cookieOf, type Stage } from "../stage.js";
import { until } from "../until.js";

/** Longer than a lease (40 s), and than every time limit of a request. */
const SUSPENDED_MS = 90_000;
/** After another process has taken over the lease of the suspended one. */
const LOGOUT_AT_MS = 65_000;
const POLL_MS = 1_500;
/** On a machine that is busy. */
const LONGEST_START_MS = 300_000;
/** What a process that goes on does in the background: revocations, late writes. */
const SETTLED_MS = 5_000;
const SESSION = "/idpauth/session";
const LOGOUT = "/idpauth/logout/?response=json";

/** Where the process is suspended: by itself, or while the provider has its request. */
type Place =
  | Suspension
  /** `isDone`: the provider has done its work, and the response has not left. */
  | { readonly endpoint: "token" | "jwks" | "revoke"; readonly isDone: boolean };

interface Step {
  readonly name: string;
  readonly place: Place;
}

interface RefreshStep extends Step {
  /**
   * The provider has replaced the refresh token, and no other process knows the new one. Whoever
   * takes over the lease sends the old one, so the user signs in again.
   */
  readonly loss?: "always" | "maybe";
  /** The refresh is stored, so its response is decided. */
  readonly isDecided?: boolean;
  /** The suspended process sends the token that another one has spent meanwhile. */
  readonly sendsSpent?: boolean;
}

const MOMENTS = ["before", "during", "after"] as const;

/** A step for each moment of one write. */
function around(method: "insert" | "replace" | "delete", number: number, what: string): Step[] {
  return MOMENTS.map((moment) => {
    return { name: `${moment} ${what}`, place: { method, number, moment } };
  });
}

/**
 * A refresh takes the lease, spends the token, stores its successor, verifies, and stores the rest.
 */
const REFRESH: readonly RefreshStep[] = [
  ...around("replace", 1, "the write of the lease"),
  {
    name: "before the request is sent",
    place: { method: "send", grant: "refresh_token" },
    sendsSpent: true,
  },
  {
    name: "the provider has the request",
    place: { endpoint: "token", isDone: false },
    loss: "always",
  },
  { name: "the provider has rotated", place: { endpoint: "token", isDone: true }, loss: "always" },
  ...around("replace", 2, "the write of the new token").map((step): RefreshStep => {
    // Of a command that is on its way, nobody knows whether it has left the process.
    const loss = step.name.startsWith("before") ? "always" : "maybe";
    return step.name.startsWith("after") ? step : { ...step, loss };
  }),
  { name: "the provider is asked for its keys", place: { endpoint: "jwks", isDone: false } },
  ...around("replace", 3, "the last write").map((step): RefreshStep => {
    return { ...step, isDecided: !step.name.startsWith("before") };
  }),
];

/** A callback uses the login up, exchanges the code, and replaces the session. */
const CALLBACK: readonly Step[] = [
  ...around("replace", 1, "the login is used up"),
  { name: "before the code is sent", place: { method: "send", grant: "authorization_code" } },
  { name: "the provider has the code", place: { endpoint: "token", isDone: false } },
  { name: "the provider has spent the code", place: { endpoint: "token", isDone: true } },
  { name: "the provider is asked for its keys", place: { endpoint: "jwks", isDone: false } },
  ...around("insert", 1, "the write of the new session"),
  ...around("replace", 2, "the old session is replaced"),
];

const LOGOUTS: readonly Step[] = [
  ...around("delete", 1, "the session is deleted"),
  { name: "the provider has the token to revoke", place: { endpoint: "revoke", isDone: false } },
  { name: "the provider has revoked the token", place: { endpoint: "revoke", isDone: true } },
];

type Case = (stage: Stage, survivors: readonly ApplicationProcess[]) => Promise<void>;

/**
 * A process is suspended at each step of a refresh, of a callback and of a logout, for longer than
 * a lease. Others serve the same sessions meanwhile, and a user signs out there. When it goes on, it
 * signs nobody out, writes no old tokens, and brings no session back.
 */
export async function suspended(stage: Stage): Promise<void> {
  const survivors = stage.fleet;
  const steps = <Kind extends Step>(all: readonly Kind[], one: (step: Kind) => Case[]) => {
    const isForKeys = ({ place }: Kind) => "endpoint" in place && place.endpoint === "jwks";
    return [
      all.filter(isForKeys).flatMap(one),
      all.filter((step) => !isForKeys(step)).flatMap(one),
    ];
  };
  const [refreshKeys = [], refreshes = []] = steps(REFRESH, (step) => [
    (...given) => refresh(step, false, ...given),
    (...given) => refresh(step, true, ...given),
  ]);
  const [callbackKeys = [], callbacks = []] = steps(CALLBACK, (step) => [
    (...given) => callback(step, false, ...given),
    (...given) => callback(step, true, ...given),
  ]);
  const logouts = LOGOUTS.map(
    (step): Case =>
      (...given) =>
        logout(step, ...given),
  );
  const failures: unknown[] = [];
  const play = (one: Case) =>
    one(stage, survivors).catch((error: unknown) => {
      failures.push(error);
    });
  // Requests for keys are alike, so each of these cases is suspended before the next one starts.
  const running: Promise<void>[] = [];
  for (const one of [...refreshKeys, ...callbackKeys]) {
    const before = suspensions;
    running.push(play(one));
    const isOver = () => suspensions > before || failures.length > 0;
    await until("the process has been suspended", isOver, LONGEST_START_MS);
  }
  const others = [...refreshes, ...callbacks, ...logouts].map((one) => () => play(one));
  await Promise.all([...running, ...others.map((one) => one())]);
  assert.deepEqual(failures.map(String), []);
}

/** Processes that have been suspended so far. */
let suspensions = 0;
/** Four processes start at a time. */
const lines: Promise<unknown>[] = Array.from({ length: 4 }, () => Promise.resolve());
let next = 0;

function started(stage: Stage, { place }: Step): Promise<ApplicationProcess> {
  const line = next++ % lines.length;
  const start = () => stage.start("method" in place ? { suspension: place } : {});
  const process = lines[line]!.then(start, start);
  lines[line] = process;
  return process;
}

interface Suspending {
  readonly doomed: ApplicationProcess;
  readonly target: string;
  readonly cookie: string;
  /** Whether a request that the provider got is the one to be suspended at. */
  readonly isTheirs: (params: URLSearchParams) => boolean;
}

/** Has the process suspended in the middle of a request. @returns the request's response */
async function suspendedAt(
  stage: Stage,
  { name, place }: Step,
  { doomed, target, cookie, isTheirs }: Suspending,
): Promise<() => Promise<Answer>> {
  const hold =
    "endpoint" in place
      ? stage.provider.hold(place.endpoint, {
          before: !place.isDone,
          times: 1,
          when: ({ params }) => place.endpoint === "jwks" || isTheirs(params),
        })
      : undefined;
  const answer = doomed.ask(target, { cookie, allowsUnavailable: true });
  answer.catch(() => undefined);
  if (hold !== undefined) {
    await hold.arrived;
    doomed.suspend();
  }
  await until(`${name}: the process is suspended`, () => doomed.isSuspended, LONGEST_START_MS);
  suspensions += 1;
  // The response arrives while nobody reads it.
  hold?.release();
  return () => {
    doomed.resume();
    return answer;
  };
}

/** Calls `poll` until the time is over. @param at runs `once` then, in milliseconds */
async function meanwhile(
  poll: () => Promise<void>,
  { at, once }: { readonly at: number; readonly once: () => Promise<void> },
): Promise<void> {
  const begun = performance.now();
  let isDone = false;
  while (performance.now() - begun < SUSPENDED_MS) {
    await poll();
    if (!isDone && performance.now() - begun >= at) {
      isDone = true;
      await once();
    }
    await pause(POLL_MS);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function tokenOf(process: ApplicationProcess, cookie: string): Promise<unknown> {
  const answer = await process.ask("/guarded", { cookie });
  return answer.status === 200 ? (JSON.parse(answer.text) as { token: unknown }).token : undefined;
}

async function refresh(
  step: RefreshStep,
  isLoggedOut: boolean,
  stage: Stage,
  survivors: readonly ApplicationProcess[],
): Promise<void> {
  const { loss, sendsSpent = false } = step;
  const isLost = loss !== undefined;
  const when = `refresh, ${step.name}${isLoggedOut ? ", signed out elsewhere" : ""}`;
  const doomed = await started(stage, step);
  const [user] = (await stage.signInMany(1, { first: 0 })) as [TestUser];
  const { cookie } = user;
  const token = stage.people.refreshTokensOf(user).at(-1);
  const resume = await suspendedAt(stage, step, {
    doomed,
    target: SESSION,
    cookie,
    isTheirs: (params) => params.get("refresh_token") === token,
  });
  let isOut = false;
  let turn = 0;
  const check = (answer: Answer, moment: string) => {
    if (answer.status === 503) return;
    if (isOut) assertSignedOut(answer, `${when}, ${moment}`);
    else if (isLost && answer.text.includes('"authenticated":false')) isOut = true;
    else assertSignedIn(answer, user, `${when}, ${moment}`);
  };
  await meanwhile(
    async () => {
      turn += 1;
      const process = survivors[turn % survivors.length]!;
      check(await process.ask(SESSION, { cookie, allowsUnavailable: true }), "suspended");
    },
    {
      at: LOGOUT_AT_MS,
      async once() {
        if (!isLoggedOut) return;
        assert.equal((await survivors[0]!.ask(LOGOUT, { cookie })).status, 200);
        isOut = true;
      },
    },
  );
  if (loss !== "maybe")
    assert.equal(isOut, isLost || isLoggedOut, `${when}: signed out before it goes on`);
  const stored = await tokenOf(survivors[1]!, cookie);
  assert.equal(stored === undefined, isOut, when);
  const answer = await resume();
  // What was decided before the logout is still said to the request that came before it.
  if (step.isDecided === true && isLoggedOut && answer.status === 200)
    assertSignedIn(answer, user, `${when}, its own response`);
  else check(answer, "its own response");
  await pause(SETTLED_MS);
  for (const process of [...survivors, doomed]) check(await process.ask(SESSION, { cookie }), "on");
  assert.equal(await tokenOf(survivors[1]!, cookie), stored, `${when}: older tokens were written`);
  const sent = stage.provider
    .requestsTo("token", { grant_type: "refresh_token" })
    .map(({ params }) => params.get("refresh_token") ?? "")
    .filter((one) => stage.people.refreshTokensOf(user).includes(one));
  const spentTwice = sent.length - new Set(sent).size;
  const atMost = isLost || sendsSpent ? 1 : 0;
  assert.ok(spentTwice <= atMost, `${when}: ${String(spentTwice)} spent tokens were sent again`);
  if (isLoggedOut)
    for (const given of stage.people.refreshTokensOf(user))
      assert.equal(stage.provider.isActive(given), false, `${when}: a token lives on`);
}

async function callback(
  step: Step,
  isLoggedOut: boolean,
  stage: Stage,
  survivors: readonly ApplicationProcess[],
): Promise<void> {
  const when = `callback, ${step.name}${isLoggedOut ? ", signed out elsewhere" : ""}`;
  const doomed = await started(stage, step);
  const [user] = (await stage.signInMany(1)) as [TestUser];
  const { cookie } = user;
  const login = await survivors[0]!.ask("/idpauth/login/", { cookie });
  const other = stage.people.add();
  const url = new URL(await stage.provider.signInCode(login.location ?? "", other.claims));
  const code = url.searchParams.get("code") ?? "";
  const resume = await suspendedAt(stage, step, {
    doomed,
    target: url.pathname + url.search,
    cookie,
    isTheirs: (params) => params.get("code") === code,
  });
  // The old session is there, or it has been replaced.
  const isReplaced =
    step.name.startsWith("after the old") || step.name.startsWith("during the old");
  let isOut = false;
  const old = async (process: ApplicationProcess) => {
    const answer = await process.ask(SESSION, { cookie });
    if (isOut || answer.text.includes('"authenticated":false')) {
      assertSignedOut(answer, when);
      assert.ok(isOut || isReplaced, `${when}: signed out`);
      isOut = true;
    } else assertSignedIn(answer, user, when);
  };
  await meanwhile(() => old(survivors[1]!), {
    at: LOGOUT_AT_MS,
    async once() {
      if (!isLoggedOut) return;
      assert.equal((await survivors[0]!.ask(LOGOUT, { cookie })).status, 200);
      isOut ||= !isReplaced;
    },
  });
  const wasOut = isOut;
  const answer = await resume();
  await pause(SETTLED_MS);
  const begun = cookieOf(answer);
  if (begun !== undefined) {
    // The new session has replaced the old one. After a logout, there is none to replace.
    assert.ok(!isLoggedOut || isReplaced, `${when}: a session after the logout`);
    for (const process of [...survivors, doomed])
      assertSignedIn(await process.ask(SESSION, { cookie: begun }), { ...other, cookie }, when);
    isOut = true;
  } else {
    // If the process was suspended while the store replaced the old session, only the trace tells
    // what came of it, and a logout removes that. After a 503, the user signs in again.
    const isUnknown =
      step.name.startsWith("during the old") && (answer.status === 503 || isLoggedOut);
    assert.ok(!isReplaced || !wasOut || isUnknown, `${when}: neither session is left`);
  }
  for (const process of [...survivors, doomed]) await old(process);
  assert.ok(stage.provider.requestsTo("token", { code }).length <= 1, `${when}: the code twice`);
}

async function logout(
  step: Step,
  stage: Stage,
  survivors: readonly ApplicationProcess[],
): Promise<void> {
  const when = `logout, ${step.name}`;
  const doomed = await started(stage, step);
  const [user] = (await stage.signInMany(1)) as [TestUser];
  const { cookie } = user;
  const token = stage.people.refreshTokensOf(user).at(-1) ?? "";
  const resume = await suspendedAt(stage, step, {
    doomed,
    target: LOGOUT,
    cookie,
    isTheirs: (params) => params.get("token") === token,
  });
  const isDeleted = !step.name.startsWith("before");
  let isOut = false;
  const old = async (process: ApplicationProcess) => {
    const answer = await process.ask(SESSION, { cookie });
    if (isOut || (isDeleted && answer.text.includes('"authenticated":false'))) {
      assertSignedOut(answer, when);
      isOut = true;
    } else assertSignedIn(answer, user, when);
  };
  // The same person signs in again elsewhere.
  let again: TestUser | undefined;
  await meanwhile(() => old(survivors[0]!), {
    at: LOGOUT_AT_MS,
    async once() {
      again = await stage.signIn(survivors[2]!, survivors[3]!);
    },
  });
  const { status } = await resume();
  // The store's time limit may have passed before anyone read its reply.
  const isUnknown = status === 503 && step.name.startsWith("during");
  if (!isUnknown) assert.equal(status, 200, when);
  await pause(SETTLED_MS);
  isOut = true;
  for (const process of [...survivors, doomed]) {
    await old(process);
    assertSignedIn(await process.ask(SESSION, { cookie: again!.cookie }), again!, when);
  }
  if (!isUnknown) assert.equal(stage.provider.isActive(token), false, `${when}: a token lives on`);
}
