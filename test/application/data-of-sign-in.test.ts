import { afterEach, describe, expect, it } from "vitest";
import type { SignInResult } from "../../src/index.js";
import type { JsonObject } from "../../src/record/json.js";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import type { SealingStore } from "../support/sealing-store.js";
import { settled } from "../../src/testing/settled.js";
import { application, sealing, startOver } from "../support/one-application.js";

let store: SealingStore;
afterEach(() => application.stop());

type Hook = (data: JsonObject) => SignInResult<Record<string, unknown>>;

/**
 * A user with the data `{ a: 1, b: 1 }` whose next sign-in runs a hook, and the number of runs of
 * that hook.
 */
async function start(
  hook: Hook,
  meanwhile: () => Promise<unknown> = async () => undefined,
  options: ApplicationOptions = {},
) {
  const seen = { runs: 0 };
  store = await startOver(sealing, {
    async onSignIn({ data }) {
      if (data === null) return { data: { a: 1, b: 1 } };
      seen.runs += 1;
      await meanwhile();
      return hook(data);
    },
    ...options,
  });
  const user = application.user();
  await user.signIn();
  return { user, seen };
}

const update = (user: TestUser, change: (data: JsonObject) => Record<string, unknown>) =>
  application.auth.updateData(user.request("/"), change);
const dataOf = async (user: TestUser) =>
  (await application.auth.getSession(user.request("/")))?.data;
const overwritten = () => application.log.filter(({ code }) => code === "data_overwritten");

describe("updates of the data that were confirmed while onSignIn ran", () => {
  it("stay: an object changes only the top-level keys that differ from what the hook read", async () => {
    const answered: unknown[] = [];
    const { user, seen } = await start(
      (data) => ({ data: { ...data, b: 2 } }),
      async () => {
        for (const count of [1, 2, 3])
          answered.push(await update(user, (data) => ({ ...data, a: 5, count })));
      },
    );
    expect((await user.signIn()).status).toBe(302);
    expect(answered.at(-1)).toEqual({ a: 5, b: 1, count: 3 });
    expect(await dataOf(user)).toEqual({ a: 5, b: 2, count: 3 });
    expect([seen.runs, overwritten()]).toEqual([1, []]);
  });

  it("stay, and the hook's function gets them", async () => {
    const { user, seen } = await start(
      () => ({ data: (current) => ({ ...current, a: Number(current["a"]) + 1 }) }),
      () => update(user, () => ({ a: 10, c: 3 })),
    );
    await user.signIn();
    expect(await dataOf(user)).toEqual({ a: 11, c: 3 });
    expect([seen.runs, overwritten()]).toEqual([1, []]);
  });

  it("stay when they remove a key that the hook left as it was; a key that the hook removes goes", async () => {
    const { user } = await start(
      ({ b: _removed, ...rest }) => ({ data: rest }),
      () => update(user, ({ a: _removed, ...rest }) => ({ ...rest, c: 3 })),
    );
    await user.signIn();
    expect(await dataOf(user)).toEqual({ c: 3 });
    expect(overwritten()).toEqual([]);
  });

  it("yield to the hook where both changed a key, and one line says so", async () => {
    const { user } = await start(
      (data) => ({ data: { ...data, a: 2, b: 2 } }),
      () => update(user, () => ({ a: 3, b: 3 })),
    );
    await user.signIn();
    expect(await dataOf(user)).toEqual({ a: 2, b: 2 });
    expect(overwritten()).toHaveLength(1);
    expect(overwritten()[0]).toMatchObject({ level: "warn" });
  });

  it("cause no line if the hook gave the key the same value", async () => {
    const { user } = await start(
      (data) => ({ data: { ...data, a: { deep: [2] } } }),
      () => update(user, (data) => ({ ...data, a: { deep: [2] } })),
    );
    await user.signIn();
    expect(await dataOf(user)).toEqual({ a: { deep: [2] }, b: 1 });
    expect(overwritten()).toEqual([]);
  });

  it("stay when they come after the new record is stored; the hook runs once, and the line is written once", async () => {
    const { user, seen } = await start(
      (data) => ({ data: { ...data, a: 2 } }),
      () => update(user, (data) => ({ ...data, a: 7, c: 1 })),
    );
    let isLate = true;
    let isStored = false;
    store.before = async ({ method }) => {
      isStored ||= method === "insert";
      // The trace of the sign-in replaces the old record.
      if (method !== "replace" || !isStored || !isLate) return;
      isLate = false;
      await update(early, (data) => ({ ...data, b: 9 }));
    };
    const early = user.at(application.auth);
    await user.signIn();
    expect(isLate).toBe(false);
    expect(await dataOf(user)).toEqual({ a: 2, b: 9, c: 1 });
    expect([seen.runs, overwritten().length]).toEqual([1, 1]);
  });
});

describe("the function that onSignIn returns as data", () => {
  it("gets {} if the user is new in this browser, and cannot change what it gets", async () => {
    const seen: unknown[] = [];
    const { user } = await start(() => undefined, undefined, {
      onSignIn: () => ({
        data: (current) => {
          seen.push([current, Object.isFrozen(current)]);
          return { a: 1 };
        },
      }),
    });
    expect(seen).toEqual([[{}, true]]);
    expect(await dataOf(user)).toEqual({ a: 1 });
  });

  it.each([
    ["throws", () => ({ data: () => JSON.parse("{") as Record<string, unknown> })],
    ["is async", () => ({ data: (async () => Promise.reject(new Error("x"))) as never })],
    ["gives no JSON", () => ({ data: () => ({ at: new Date() }) })],
  ])(
    "that %s: 503, no session, and the tokens are revoked",
    async (_what, onSignIn: () => SignInResult<Record<string, unknown>>) => {
      const { user } = await start(() => undefined, undefined, { onSignIn });
      expect(await user.isSignedIn()).toBe(false);
      expect(application.log.map(({ code }) => code)).toContain("function_threw");
      await settled(application.auth);
      expect(application.provider.requestsTo("revoke")).toHaveLength(1);
    },
  );
});
