import assert from "node:assert/strict";
import type { Endpoint } from "../../../src/testing/provider/test-provider.js";
import type { ApplicationProcess } from "../application-process.js";
import type { TestUser } from "../people.js";
import type { Death } from "../process-options.js";
import { assertSignedIn, assertSignedOut, cookieOf, type Stage } from "../stage.js";

/**
 * Where the process dies by itself; or which of its requests the provider has, or has done, when it
 * is killed.
 */
type LastStep = Death | { readonly endpoint: Endpoint; readonly isDone: boolean };

interface Step {
  readonly name: string;
  readonly death: LastStep;
  /** Whether the person from before is still signed in afterwards; else nobody is. */
  readonly stays: boolean;
  /** Whether the login can still be finished, at another process. */
  readonly isOpen?: boolean;
}

/**
 * A callback uses the login up, exchanges the code, verifies, writes the new session and replaces
 * the old one by its trace.
 */
const CALLBACK: readonly Step[] = [
  {
    name: "before the login is used up",
    death: { method: "replace", number: 1, moment: "before" },
    stays: true,
    isOpen: true,
  },
  {
    name: "after the login is used up",
    death: { method: "replace", number: 1, moment: "after" },
    stays: true,
  },
  { name: "the provider has the code", death: { endpoint: "token", isDone: false }, stays: true },
  {
    name: "the provider has spent the code",
    death: { endpoint: "token", isDone: true },
    stays: true,
  },
  {
    name: "the provider is asked for its keys",
    death: { endpoint: "jwks", isDone: false },
    stays: true,
  },
  {
    name: "before the new session is written",
    death: { method: "insert", number: 1, moment: "before" },
    stays: true,
  },
  {
    name: "after the new session is written",
    death: { method: "insert", number: 1, moment: "after" },
    stays: true,
  },
  {
    name: "before the old session is replaced",
    death: { method: "replace", number: 2, moment: "before" },
    stays: true,
  },
  {
    name: "after the old session is replaced",
    death: { method: "replace", number: 2, moment: "after" },
    stays: false,
  },
];

/** A logout deletes the session and gives its tokens back. */
const LOGOUT: readonly Step[] = [
  {
    name: "before the session is deleted",
    death: { method: "delete", number: 1, moment: "before" },
    stays: true,
  },
  {
    name: "after the session is deleted",
    death: { method: "delete", number: 1, moment: "after" },
    stays: false,
  },
  {
    name: "the provider has the token to revoke",
    death: { endpoint: "revoke", isDone: false },
    stays: false,
  },
  {
    name: "the provider has revoked the token",
    death: { endpoint: "revoke", isDone: true },
    stays: false,
  },
];

/**
 * Every step of a callback, by somebody who is signed in already, and of a logout is its process's
 * last. What is left in the store is the session from before or none, for every other process
 * alike; a code is never sent twice, and the next sign-in works.
 */
export async function killedDuringSignInOrOut(stage: Stage): Promise<void> {
  const judges: Judge[] = [];
  for (const step of CALLBACK) judges.push(await killedCallback(stage, step));
  for (const step of LOGOUT) judges.push(await killedLogout(stage, step));
  // All at once, because a repeated callback waits 20 seconds for the process that has died.
  await Promise.all(judges.map((judge) => judge()));
}

/** Asserts what a death has left. */
type Judge = () => Promise<void>;

async function killedCallback(stage: Stage, step: Step): Promise<Judge> {
  const when = `callback, ${step.name}`;
  const [doomed, [user]] = await Promise.all([startDoomed(stage, step), stage.signInMany(1)]);
  const { cookie } = user!;
  const login = await stage.at(0).ask("/idpauth/login/", { cookie });
  const other = stage.people.add();
  const callback = new URL(await stage.provider.signInCode(login.location ?? "", other.claims));
  const code = callback.searchParams.get("code") ?? "";
  const target = callback.pathname + callback.search;
  await die(stage, step, when, doomed, target, cookie, ({ params }) => params.get("code") === code);
  return () => judgeCallback(stage, step, { when, user: user!, other, target, code });
}

interface KilledCallback {
  readonly when: string;
  /** Who was signed in before. */
  readonly user: TestUser;
  /** Who was about to sign in. */
  readonly other: Omit<TestUser, "cookie">;
  readonly target: string;
  readonly code: string;
}

async function judgeCallback(
  stage: Stage,
  step: Step,
  { when, user, other, target, code }: KilledCallback,
): Promise<void> {
  const { cookie } = user;
  await assertAll(stage, user, step.stays, when);
  const again = await stage.at(1).ask(target, { cookie });
  // A state that was used by somebody who is signed in leads on, and does nothing. By nobody, the
  // login begins again.
  assert.equal(again.status, 302, `${when}: the same callback elsewhere`);
  assert.equal(
    again.location?.startsWith("/idpauth/login/") === true,
    !step.stays,
    `${when}: the same callback elsewhere`,
  );
  assert.equal(
    cookieOf(again) !== undefined,
    step.isOpen === true,
    `${when}: the same callback elsewhere`,
  );
  assert.equal(
    stage.provider.requestsTo("token", { code }).length <= 1,
    true,
    `${when}: the code was sent twice`,
  );
  if (step.isOpen === true) {
    const now = { ...other, cookie: cookieOf(again) ?? "" };
    await assertAll(stage, now, true, `${when}, finished elsewhere`);
    await assertAll(stage, user, false, `${when}, finished elsewhere, by the old cookie`);
    return;
  }
  // Nothing was changed by that either, and whoever comes again signs in.
  await assertAll(stage, user, step.stays, `${when}, once more`);
  await signInAnew(stage, cookie, when);
}

async function killedLogout(stage: Stage, step: Step): Promise<Judge> {
  const when = `logout, ${step.name}`;
  const [doomed, [user]] = await Promise.all([startDoomed(stage, step), stage.signInMany(1)]);
  const { cookie } = user!;
  const token = stage.people.refreshTokensOf(user!).at(-1) ?? "";
  await die(
    stage,
    step,
    when,
    doomed,
    "/idpauth/logout/?response=json",
    cookie,
    ({ params }) => params.get("token") === token,
  );
  return () => judgeLogout(stage, step, { when, user: user!, token });
}

interface KilledLogout extends Pick<KilledCallback, "when" | "user"> {
  /** The refresh token. */
  readonly token: string;
}

async function judgeLogout(
  stage: Stage,
  step: Step,
  { when, user, token }: KilledLogout,
): Promise<void> {
  const { cookie } = user;
  await assertAll(stage, user, step.stays, when);
  assert.equal(
    stage.provider.isActive(token),
    !("endpoint" in step.death && step.death.isDone),
    `${when}: the refresh token`,
  );
  if (step.stays) {
    assert.equal((await stage.at(1).ask("/idpauth/logout/?response=json", { cookie })).status, 200);
    await assertAll(stage, user, false, `${when}, after a logout elsewhere`);
    assert.equal(stage.provider.isActive(token), false);
  }
  await signInAnew(stage, cookie, when);
}

function startDoomed(stage: Stage, { death }: Step): Promise<ApplicationProcess> {
  return stage.start("method" in death ? { death } : {});
}

/** Asks the process, and sees it die of it. */
async function die(
  stage: Stage,
  { death }: Step,
  when: string,
  doomed: ApplicationProcess,
  target: string,
  cookie: string,
  isTheirs: (request: { readonly params: URLSearchParams }) => boolean,
): Promise<void> {
  if ("endpoint" in death) {
    const { endpoint, isDone } = death;
    stage.provider.fault(endpoint, {
      kind: "hang",
      before: !isDone,
      times: 1,
      when: (request) => {
        if (endpoint !== "jwks" && !isTheirs(request)) return false;
        void doomed.kill();
        return true;
      },
    });
  }
  await assert.rejects(doomed.ask(target, { cookie }), `${when}: the process has answered`);
  assert.equal((await doomed.ended).signal, "SIGKILL", `${when}: ${doomed.stderr}`);
  stage.provider.clearFaults();
}

/** What every process says, with the cookie from before. */
async function assertAll(
  stage: Stage,
  user: TestUser,
  isSignedIn: boolean,
  when: string,
): Promise<void> {
  const { cookie } = user;
  for (const answer of await Promise.all(
    stage.fleet.map((process) => process.ask("/idpauth/session", { cookie })),
  )) {
    if (isSignedIn) assertSignedIn(answer, user, when);
    else assertSignedOut(answer, when);
  }
}

/** By the browser that met the death, with the cookie that it still has. */
async function signInAnew(stage: Stage, cookie: string, when: string): Promise<void> {
  const { sub, email, claims } = stage.people.add();
  const login = await stage.at(2).ask("/idpauth/login/", { cookie });
  assert.equal(login.status, 302, `${when}: ${login.text}`);
  const callback = new URL(await stage.provider.signInCode(login.location ?? "", claims));
  const done = await stage
    .at(3)
    .ask(callback.pathname + callback.search, { cookie: cookieOf(login) ?? cookie });
  assert.equal(done.status, 302, `${when}: ${done.text}`);
  await assertAll(
    stage,
    { sub, email, cookie: cookieOf(done) ?? "" },
    true,
    `${when}, after a new sign-in`,
  );
}
