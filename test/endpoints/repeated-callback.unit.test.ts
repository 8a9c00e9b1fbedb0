import { describe, expect, it } from "vitest";
import type { Callback } from "../../src/endpoints/callback-endings.js";
import { repeatedCallback, type Repeated } from "../../src/endpoints/repeated-callback.js";
import { RunningExchanges } from "../../src/endpoints/running-exchanges.js";
import type { Reply } from "../../src/http/reply.js";
import type { LoginTarget, SessionRecord } from "../../src/record/record.js";
import { TestClock } from "../../src/testing/test-clock.js";

const STATE = "the hash of the state";
const TARGET: LoginTarget = {
  final_redirect: "http://app.example/reports",
  redirect_uri: "http://app.example/idpauth/login-callback/staff",
  provider: "staff",
};
const AGAIN = `/idpauth/login/?${new URLSearchParams({
  scheme: "PRESERVE_ORIGIN_QP",
  origin_url: TARGET.final_redirect,
  provider: "staff",
  cross_site: "true",
}).toString()}`;

const recordWith = (state: object, others: object = {}) =>
  ({ idp_state: state, ...others }) as unknown as SessionRecord;
const EXCHANGING = recordWith({ used: [STATE], exchanging: [STATE] });
const SIGNED_IN = { credentials: {}, final_redirect: "/reports" };

interface Scene {
  /** The record in the store. */
  stored?: SessionRecord | undefined;
  /** The login that the trace of the sign-in contains. Null: the store keeps no traces. */
  readonly trace?: LoginTarget | null;
  readonly final?: string | null;
  readonly otherwise?: Repeated["otherwise"] | null;
}

/** A repeated callback of a session whose store, provider and other requests the test plays. */
function rig(scene: Scene = {}) {
  const { trace, final = null, otherwise = () => ({ status: 418 }) as Reply } = scene;
  const clock = new TestClock();
  const exchanges = new RunningExchanges();
  const reads: number[] = [];
  const events: unknown[] = [];
  const session = {
    key: "session" as string | undefined,
    read: () => Promise.resolve(undefined),
    reload: () => {
      reads.push(clock.monotonic());
      return Promise.resolve(scene.stored);
    },
    ...(trace !== null && {
      takeTrace: (state: string) => Promise.resolve(state === STATE ? trace : undefined),
    }),
  };
  const callback = {
    opened: {
      session,
      origin: "http://app.example",
      request: { header: () => "application/json", scheme: "http" },
    },
    context: {
      clock,
      pages: { publicPath: "/idpauth/" },
      settings: { authFinalRedirectUrl: final },
      events: {
        refused: (...event: unknown[]) => events.push(["refused", ...event]),
        failed: (...event: unknown[]) => events.push(["failed", ...event]),
        emit: (name: string, event: object) => events.push([name, event]),
      },
    },
    registration: { key: "staff", settings: { httpTimeout: 5 } },
  } as unknown as Callback;
  const repeat = (record: SessionRecord | undefined) =>
    repeatedCallback(callback, {
      stateHash: STATE,
      record,
      exchanges,
      ...(otherwise !== null && { otherwise }),
    });
  return { clock, exchanges, reads, events, session, repeat };
}

const locationOf = ({ headers }: Reply) => headers["Location"];

describe("a repeated callback while another process exchanges the code", () => {
  it("reads the session after 50 ms, then after twice as long each time, at most a second", async () => {
    const { clock, reads, events, repeat } = rig({ stored: EXCHANGING });
    const failed = repeat(EXCHANGING).catch((error: unknown) => error);
    await clock.advanceAsync(60_000);
    expect(reads).toEqual([50, 150, 350, 750, 1_550, 2_550, 3_550, 4_550, 5_000]);
    const error = await failed;
    expect(error).toMatchObject({ reason: "sign_in_running", retryAfter: 2 });
    expect(events).toEqual([["failed", "callback", error, { provider: "staff" }]]);
  });

  it("goes on with the newest record as soon as it has read that the exchange has ended", async () => {
    const scene: Scene = { stored: EXCHANGING, trace: TARGET };
    const { clock, reads, repeat } = rig(scene);
    const reply = repeat(EXCHANGING);
    await clock.advanceAsync(100);
    scene.stored = undefined;
    await clock.advanceAsync(50);
    expect(locationOf(await reply)).toBe(AGAIN);
    expect(reads).toEqual([50, 150]);
  });

  it("leaves a signed-in user signed in if the exchange takes longer than IDP_HTTP_TIMEOUT", async () => {
    const stored = recordWith(EXCHANGING.idp_state, SIGNED_IN);
    const { clock, events, repeat } = rig({ stored });
    const reply = repeat(stored);
    await clock.advanceAsync(5_000);
    expect([locationOf(await reply), events]).toEqual(["/reports", []]);
  });
});

describe("a repeated callback while this process exchanges the code", () => {
  it("reads the session once, at the end of the exchange", async () => {
    const scene: Scene = { stored: EXCHANGING, trace: TARGET };
    const { clock, exchanges, reads, repeat } = rig(scene);
    const end = exchanges.begin("session", STATE);
    const reply = repeat(EXCHANGING);
    await clock.advanceAsync(1_234);
    expect(reads).toEqual([]);
    scene.stored = undefined;
    end();
    expect(locationOf(await reply)).toBe(AGAIN);
    expect(reads).toEqual([1_234]);
  });

  it("reads it once more after IDP_HTTP_TIMEOUT, and then gives up", async () => {
    const { clock, exchanges, reads, repeat } = rig({ stored: EXCHANGING });
    exchanges.begin("session", STATE);
    const failed = repeat(EXCHANGING).catch((error: unknown) => error);
    await clock.advanceAsync(4_999);
    expect(reads).toEqual([]);
    await clock.advanceAsync(1);
    expect(await failed).toMatchObject({ reason: "sign_in_running" });
    expect(reads).toEqual([5_000]);
  });

  it.each([
    ["another session", "other", STATE],
    ["another state", "session", "the hash of another state"],
  ])("doesn't wait for the exchange of %s", async (_what, key, state) => {
    const { clock, exchanges, reads, repeat } = rig({ trace: TARGET });
    exchanges.begin(key, state);
    const reply = repeat(EXCHANGING);
    await clock.advanceAsync(50);
    expect([locationOf(await reply), reads]).toEqual([AGAIN, [50]]);
  });
});

describe("a repeated callback whose exchange has ended", () => {
  it("begins the same login again, as one of another site, and is an event", async () => {
    const { reads, events, repeat } = rig({ trace: TARGET });
    for (const record of [undefined, recordWith({ exchanging: ["another"] })]) {
      events.length = 0;
      expect(locationOf(await repeat(record))).toBe(AGAIN);
      expect(events).toEqual([["refused", "callback", "repeated", { provider: "staff" }]]);
    }
    expect(reads).toEqual([]);
  });

  it.each<[string, Scene]>([
    ["no trace of the state", {}],
    ["a store without traces", { trace: null }],
  ])("with %s has the reply that the caller says", async (_what, scene) => {
    const { events, repeat } = rig(scene);
    expect([(await repeat(undefined)).status, events]).toEqual([418, []]);
  });

  it("has the reply of an invalid link, unless the caller says another one", async () => {
    const failure = { provider: "staff", during: "callback", kind: "refusal", reason: "state" };
    for (const record of [undefined, recordWith({ used: ["another"] }, SIGNED_IN)]) {
      const { events, repeat } = rig({ otherwise: null });
      const reply = await repeat(record);
      expect([reply.status, events]).toEqual([400, [["failure", failure]]]);
      expect(reply.body).toContain("login_link_invalid");
    }
  });

  it("of a signed-in user goes to the page of the session, if this browser has used the state", async () => {
    const used = recordWith({ used: [STATE] }, SIGNED_IN);
    const elsewhere = recordWith({ used: [STATE] }, { credentials: {} });
    expect(locationOf(await rig({ trace: TARGET }).repeat(used))).toBe("/reports");
    expect(locationOf(await rig().repeat(elsewhere))).toBe("/idpauth/");
    expect(locationOf(await rig({ final: "/home" }).repeat(elsewhere))).toBe("/home");
    const unknown = recordWith({ used: ["another"] }, SIGNED_IN);
    expect((await rig({ trace: TARGET }).repeat(unknown)).status).toBe(418);
  });
});
