import assert from "node:assert/strict";
import { GuardMissingError, type Session } from "idpauth";
import { TestClock } from "idpauth/testing";
import type { ApplicationRoute } from "../adapter-under-test.js";
import { WatchedStore } from "../watched-store.js";
import { probe, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "guard";
const PAUSE_MS = 5_000;

function route(
  path: string,
  rest: Pick<ApplicationRoute & { kind: "json" }, "respond" | "guard">,
): ApplicationRoute {
  return { kind: "json", method: "GET", path, ...rest };
}

/** The session of a guarded handler: `requireSession`. */
export const requireSessionRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title:
      "requireSession gives the session that the guard saw, however long the handler runs and even if the session changes in that time",
    async check(starter) {
      const clock = new TestClock();
      let seen: (Session | undefined)[] = [];
      let meanwhile: () => Promise<unknown> = () => Promise.resolve();
      const respond: (ApplicationRoute & { kind: "json" })["respond"] = async ([auth], raw) => {
        seen.push(await auth?.requireSession(raw));
        await auth?.updateData(raw, () => ({ openedRequests: 1 }));
        await meanwhile();
        clock.advance(PAUSE_MS);
        // Another accessor reads the session again by now.
        await auth?.getCredentials(raw);
        seen.push(await auth?.requireSession(raw));
        return {};
      };
      const allow = (session: Session) => (seen.push(session), true);
      const app = await starter.start({
        clock,
        options: { sessionIdleTimeout: 600 },
        routes: [
          route("/mine", { guard: { mount: 0 }, respond }),
          route("/ruled", { guard: { mount: 0, rule: { allow } }, respond }),
        ],
      });
      for (const [path, length] of [
        ["/mine", 2],
        ["/ruled", 3],
      ] as const) {
        seen = [];
        const browser = await app.signedIn();
        const now = clock.now() / 1000;
        meanwhile = () => browser.get("/idpauth/logout/?response=json");
        const response = await browser.get(path);
        assert.deepEqual([response.status, seen.length], [200, length], response.text);
        const { user, data, lastActive, expiresAt } = seen[0] as Session;
        assert.deepEqual([user.id, data, lastActive, expiresAt], ["ada-1815", {}, now, now + 600]);
        for (const again of seen)
          assert.deepEqual(again, seen[0], "it is another session than the guard's");
        assert.deepEqual([await probe(browser), app.caught], [SIGNED_OUT, []]);
      }
    },
  },
  {
    area,
    title:
      "seenSession gives the session that the request's first gate found, also after a logout, and reads nothing",
    async check(starter) {
      const clock = new TestClock();
      const seen: (Session | null | undefined)[] = [];
      let meanwhile: () => Promise<unknown> = () => Promise.resolve();
      const respond: (ApplicationRoute & { kind: "json" })["respond"] = async ([auth], raw) => {
        seen.push(auth?.seenSession(raw));
        const session = await auth?.getSession(raw);
        seen.push(auth?.seenSession(raw));
        await meanwhile();
        clock.advance(PAUSE_MS);
        // Read again by now, and signed out.
        await auth?.getCredentials(raw);
        seen.push(auth?.seenSession(raw));
        return { id: session?.user.id ?? null };
      };
      const app = await starter.start({
        clock,
        options: { sessionIdleTimeout: 600 },
        routes: [route("/open", { respond }), route("/mine", { guard: { mount: 0 }, respond })],
      });
      assert.deepEqual((await app.browser().get("/open")).json(), { id: null });
      assert.deepEqual(seen.splice(0), [null, null, null]);
      for (const [path, before] of [
        ["/open", undefined],
        ["/mine", "ada-1815"],
      ] as const) {
        const browser = await app.signedIn();
        const now = clock.now() / 1000;
        meanwhile = () => browser.get("/idpauth/logout/?response=json");
        assert.deepEqual((await browser.get(path)).json(), { id: "ada-1815" });
        const [first, ...others] = seen.splice(0);
        assert.equal(first?.user.id, before);
        for (const each of others)
          assert.deepEqual([each?.user.id, each?.lastActive], ["ada-1815", now]);
        assert.deepEqual([await probe(browser), app.caught], [SIGNED_OUT, []]);
      }
    },
  },
  {
    area,
    title: "the guard and requireSession share one read of the session",
    session: "bundled",
    async check(starter) {
      const clock = new TestClock();
      const store = new WatchedStore(clock);
      const respond: (ApplicationRoute & { kind: "json" })["respond"] = async ([auth], raw) => {
        clock.advance(PAUSE_MS);
        return { id: (await auth?.requireSession(raw))?.user.id };
      };
      const app = await starter.start({
        clock,
        options: { store },
        routes: [route("/mine", { guard: { mount: 0 }, respond })],
      });
      const browser = await app.signedIn();
      store.operations.length = 0;
      assert.equal((await browser.get("/mine")).json().id, "ada-1815");
      assert.deepEqual(store.operations, ["get"]);
    },
  },
  {
    area,
    title:
      "requireSession rejects with a GuardMissingError if no guard of its mount let the request pass, even for a signed-in user",
    async check(starter) {
      const respond: (ApplicationRoute & { kind: "json" })["respond"] = ([auth], raw) =>
        auth?.requireSession(raw);
      const app = await starter.start({
        options: [{}, { mountPath: "/partners/idpauth/" }],
        routes: [route("/open", { respond }), route("/other", { guard: { mount: 1 }, respond })],
      });
      const browser = await app.signedIn();
      await browser.follow("/partners/idpauth/login/");
      for (const [by, path] of [
        [app.browser(), "/open"],
        [browser, "/open"],
        [browser, "/other"],
      ] as const) {
        const response = await by.get(path);
        const error = app.caught.at(-1);
        assert.ok(error instanceof GuardMissingError, `${path}: ${String(error)}`);
        assert.deepEqual(
          [response.status, response.json(), error.code],
          [500, { caught: error.message }, "guard_missing"],
          path,
        );
        assert.match(error.message, /auth\.idpRequired/);
      }
      assert.deepEqual([app.caught.length, await probe(browser)], [3, SIGNED_IN]);
    },
  },
];
