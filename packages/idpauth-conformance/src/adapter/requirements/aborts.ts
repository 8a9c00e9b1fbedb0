import assert from "node:assert/strict";
import process from "node:process";
import type { Events } from "idpauth";
import { settled } from "idpauth/testing";
import type { StartedApplication } from "../application-starter.js";
import { probe, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import { HOUR_MS, type AdapterRequirement } from "./requirement.js";
import { withinLimit } from "./time-limit.js";

const area = "aborts";
const LOGIN = "/idpauth/login/";
const ROUNDS = [1, 2, 3];

/**
 * The moments at which the user leaves: when the token request arrives, or just before its
 * response.
 */
const MOMENTS = [
  ["before the provider has done its part", true],
  ["when the provider has done its part", false],
] as const;

export const abortRequirements: readonly AdapterRequirement[] = MOMENTS.flatMap(
  ([when, before]): AdapterRequirement[] => [
    {
      area,
      title: `a user who leaves during the callback, ${when}, leaves a complete session or none, and the code is spent once`,
      async check(starter) {
        const app = await starter.start();
        await withNothingUnhandled(async () => {
          const browser = app.browser();
          for (const round of ROUNDS) {
            const callback = await app.approved(browser);
            await leaveDuring(app, "login", before, (signal) =>
              browser.navigate(callback, { signal }),
            );
            // The browser that left had no chance to get the new key, and the old one is gone.
            assert.deepEqual(await probe(browser), SIGNED_OUT);
            // A repeat leads to another login, never to the session that the first one made.
            const { status, location = "", setCookies } = await browser.navigate(callback);
            const isAgain = status === 302 && new URL(location, app.origin).pathname === LOGIN;
            assert.ok(
              starter.session === "host" ? status === 400 : isAgain,
              `${status} ${location}`,
            );
            assert.deepEqual(setCookies, []);
            assert.equal(app.provider.requestsTo("token").length, round, "the code was sent again");
          }
          assert.deepEqual(await probe(await app.signedIn(browser)), SIGNED_IN);
        });
        assert.deepEqual(app.caught, []);
      },
    },
    {
      area,
      title: `a user who leaves during a refresh, ${when}, finds it stored, and the refresh token is spent once`,
      async check(starter) {
        const app = await starter.start();
        await withNothingUnhandled(async () => {
          const browser = await app.signedIn();
          for (const round of ROUNDS) {
            app.clock.advance(HOUR_MS);
            const path = round === 2 ? "/idpauth/session" : "/reports";
            await leaveDuring(app, "refresh", before, (signal) => browser.get(path, { signal }));
            const page = await withinLimit(
              browser.get("/reports"),
              "the next request waits for what was begun",
            );
            assert.equal(page.json().token, app.newest("access_token"));
            assert.equal(
              app.provider.requestsTo("token", { grant_type: "refresh_token" }).length,
              round,
            );
          }
        });
        assert.equal(app.provider.reuses, 0);
      },
    },
  ],
).concat({
  area,
  title: "a user who leaves a login can sign in afterwards",
  async check(starter) {
    const app = await starter.start();
    await withNothingUnhandled(async () => {
      const browser = app.browser();
      const discovery = app.provider.hold("discovery");
      const leave = new AbortController();
      const left = browser
        .navigate("/idpauth/login/", { signal: leave.signal })
        .catch((error: unknown) => error);
      await discovery.arrived;
      leave.abort();
      assert.ok((await left) instanceof Error);
      discovery.release();
      assert.deepEqual(await probe(await app.signedIn(browser)), SIGNED_IN);
    });
    assert.deepEqual(app.caught, []);
  },
});

/** Leaves during the token request and waits until the background work has ended. */
async function leaveDuring(
  app: StartedApplication,
  event: keyof Events,
  before: boolean,
  opened: (signal: AbortSignal) => Promise<unknown>,
): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    const stop = app.auth.on(event, () => {
      stop();
      resolve();
    });
  });
  const token = app.provider.hold("token", { before });
  const leave = new AbortController();
  const left = opened(leave.signal).catch((error: unknown) => error);
  await withinLimit(token.arrived, "the provider is not asked for tokens");
  leave.abort();
  assert.ok((await left) instanceof Error, "the request has a response");
  token.release();
  await withinLimit(ended, `what was begun does not end with the event "${event}"`);
  await settled(app.auth);
}

/** Collects unhandled rejections, each of which would end a process. */
export async function withNothingUnhandled(work: () => Promise<void>): Promise<void> {
  const unhandled: unknown[] = [];
  const take = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", take);
  try {
    await work();
    // Node reports unhandled rejections after the queue of promises is empty.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("unhandledRejection", take);
  }
  assert.deepEqual(unhandled, []);
}
