import assert from "node:assert/strict";
import type { ApplicationProcess } from "../application-process.js";
import type { TestUser } from "../people.js";
import type { Death } from "../process-options.js";
import { assertSignedIn, assertSignedOut, type Stage } from "../stage.js";

/**
 * How far a refresh has come when its process is killed, and what the others have to make of it.
 */
interface Step {
  readonly name: string;
  /** Where the process dies by itself; or at which of its requests to the provider it is killed. */
  readonly death: Death | "token received" | "token rotated" | "keys asked for";
  /** Refreshes in all, that of the killed process included. */
  readonly refreshes: 1 | 2;
  /**
   * The provider has rotated and nothing knows the new token: the one case that ends in a new
   * login.
   */
  readonly isLost?: boolean;
}

const STEPS: readonly Step[] = [
  {
    name: "before the lease is written",
    death: { method: "replace", number: 1, moment: "before" },
    refreshes: 1,
  },
  {
    name: "after the lease is written",
    death: { method: "replace", number: 1, moment: "after" },
    refreshes: 1,
  },
  { name: "the provider has the request", death: "token received", refreshes: 2 },
  { name: "the provider has rotated", death: "token rotated", refreshes: 2, isLost: true },
  {
    name: "before the new token is stored",
    death: { method: "replace", number: 2, moment: "before" },
    refreshes: 2,
    isLost: true,
  },
  {
    name: "after the new token is stored",
    death: { method: "replace", number: 2, moment: "after" },
    refreshes: 2,
  },
  { name: "the provider is asked for its keys", death: "keys asked for", refreshes: 2 },
  {
    name: "before the last write",
    death: { method: "replace", number: 3, moment: "before" },
    refreshes: 2,
  },
  {
    name: "after the last write",
    death: { method: "replace", number: 3, moment: "after" },
    refreshes: 1,
  },
];

/** The survivors' time, so that a lease of 40 s is over in 4. A refresh of theirs still has 3 s. */
const SPEED = 10;

/**
 * Every step of a refresh is somebody's last. The others serve the session on, and spend no token
 * that is spent already.
 */
export async function killedRefresher(stage: Stage): Promise<void> {
  const reuses = stage.provider.reuses;
  const [users, survivors, doomed] = await Promise.all([
    stage.signInMany(STEPS.length, { first: 0 }),
    stage.startMany(2, { speed: SPEED, httpTimeout: 120 }),
    Promise.all(STEPS.map(({ death }) => stage.start(typeof death === "object" ? { death } : {}))),
  ]);
  const cases = STEPS.map((step, number) => ({
    step,
    user: users[number]!,
    process: doomed[number]!,
  }));
  // By itself, since all processes ask for the same keys.
  const [keys, others] = [cases.filter(asksForKeys), cases.filter((one) => !asksForKeys(one))];
  for (const group of [keys, others])
    await Promise.all(group.map(({ step, user, process }) => die(stage, step, user, process)));
  await Promise.all(cases.map(({ step, user }) => outlive(stage, step, user, survivors)));
  assert.equal(
    stage.provider.reuses - reuses,
    STEPS.filter(({ isLost }) => isLost).length,
    "spent tokens that came back",
  );
  for (const survivor of survivors) assert.ok(survivor.isRunning, survivor.stderr);
  await Promise.all(survivors.map((survivor) => survivor.kill()));
}

function asksForKeys({ step }: { readonly step: Step }): boolean {
  return step.death === "keys asked for";
}

/** Lets the process refresh, and sees it die of it. */
async function die(
  stage: Stage,
  { name, death }: Step,
  user: TestUser,
  process: ApplicationProcess,
): Promise<void> {
  if (typeof death !== "object") void lastRequest(stage, death, user).then(() => process.kill());
  await assert.rejects(
    process.ask("/idpauth/session", { cookie: user.cookie }),
    `${name}: the process has answered`,
  );
  assert.equal((await process.ended).signal, "SIGKILL", `${name}: ${process.stderr}`);
}

/** Resolves when the provider has this user's request, which it will never answer. */
function lastRequest(
  stage: Stage,
  death: "token received" | "token rotated" | "keys asked for",
  user: TestUser,
): Promise<void> {
  const token = stage.people.refreshTokensOf(user).at(-1);
  return new Promise((resolve) => {
    stage.provider.fault(death === "keys asked for" ? "jwks" : "token", {
      kind: "hang",
      before: death !== "token rotated",
      times: 1,
      when: (request) => {
        const { endpoint, params } = request;
        const isTheirs =
          endpoint === "jwks" || (params.get("refresh_token") === token && stage.passes(request));
        if (isTheirs) resolve();
        return isTheirs;
      },
    });
  });
}

async function outlive(
  stage: Stage,
  { name, refreshes, isLost = false }: Step,
  user: TestUser,
  survivors: readonly ApplicationProcess[],
): Promise<void> {
  const check = isLost
    ? assertSignedOut
    : (answer: Parameters<typeof assertSignedIn>[0]) => assertSignedIn(answer, user, name);
  const askAll = () =>
    Promise.all(
      [...survivors, ...survivors].map((survivor) =>
        survivor.ask("/idpauth/session", { cookie: user.cookie }),
      ),
    );
  for (const answer of await askAll()) check(answer, name);
  const tried = stage.refreshes(user);
  // Where a nonce was demanded first, each process takes its first refusal for an outage.
  const isTriedAgain = isLost && stage.provider.settings.dpopNonce !== "none";
  if (isTriedAgain) assert.ok(tried <= refreshes + survivors.length, `${name}: ${String(tried)}`);
  else assert.equal(tried, refreshes, `${name}: token requests`);
  // What has been decided stays, everywhere, and costs the provider nothing more.
  for (const answer of [
    ...(await askAll()),
    await stage.at(0).ask("/idpauth/session", { cookie: user.cookie }),
  ])
    check(answer, name);
  assert.equal(stage.refreshes(user), tried, `${name}: token requests afterwards`);
  if (!isLost) return;
  await stage.signInAgain(user, survivors[0]!);
  for (const answer of await askAll()) assertSignedIn(answer, user, `${name}, after the new login`);
}
