// A decision reads the clock once. With a clock that is a second later at each reading, a decision
// that reads it twice contradicts itself.
import { afterEach, describe, expect, it } from "vitest";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application } from "../support/application.js";

class HastyClock extends TestClock {
  /** Milliseconds from one reading to the next. */
  step = 0;
  #passed = 0;

  override now(): number {
    this.#passed += this.step;
    return super.now() + this.#passed;
  }
}

let application: Application | undefined;
afterEach(() => application?.stop());

const APIS = {
  orders: { url: "https://orders.internal/", audience: "https://orders.example.com" },
  own: { url: "https://own.internal/" },
};

async function signedIn(accessTokenSeconds: number, options: object = {}) {
  const clock = new HastyClock();
  application = await startApplication({
    clock,
    store: memoryStore({ clock }),
    apis: APIS,
    provider: { accessTokenSeconds },
    ...options,
  });
  const user = application.user();
  await user.signIn();
  clock.step = 1_000;
  return { user, auth: application.auth, provider: application.provider };
}

describe("a token that lives for seconds", () => {
  const cases = ["orders", "own"].flatMap((api) =>
    [1, 2, 3].flatMap((seconds) => [0, 30].map((minValidity) => ({ api, seconds, minValidity }))),
  );
  it.each(cases)("reaches the call that it came for: %j", async ({ api, seconds, minValidity }) => {
    const { user, auth, provider } = await signedIn(seconds);
    for (let call = 0; call < 5; call += 1) {
      const before = provider.requestsTo("token").length;
      const token = await auth.getAccessToken(user.request("/"), { api, minValidity });
      expect(token).toEqual(expect.any(String));
      expect(provider.requestsTo("token").length - before).toBeLessThanOrEqual(2);
    }
  });

  it.each(["orders", "own"])(
    "that has expired when it comes isn't given to anybody: %s",
    async (api) => {
      const { user, auth } = await signedIn(0);
      const token = auth.getAccessToken(user.request("/"), { api });
      await expect(token).rejects.toMatchObject({ status: expect.any(Number) });
    },
  );
});

describe("a session that reaches a limit while it is looked at", () => {
  it.each<[string, object]>([
    ["the idle timeout", { sessionIdleTimeout: 3 }],
    ["the maximum age", { sessionMaxAge: 3 }],
  ])("is valid for the whole of one request, or ended (%s)", async (_limit, options) => {
    const { user, auth } = await signedIn(3_600, options);
    const outcomes = new Set<string>();
    for (let call = 0; call < 6; call += 1) {
      const state = await auth.clientState(user.request("/"));
      outcomes.add(`${String(state.authenticated)} ${String((state.ends_in ?? 0) > 0)}`);
    }
    expect([...outcomes]).toEqual(
      ["true true", "true false", "false false"].filter((one) => outcomes.has(one)),
    );
    expect(outcomes).toContain("false false");
  });
});
