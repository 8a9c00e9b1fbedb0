import { afterEach, describe, expect, it } from "vitest";
import { startApplication, type Application } from "../support/application.js";
import { SealingStore, type StoreCall } from "../support/sealing-store.js";
import { TestClock } from "../../src/testing/test-clock.js";

let app: Application;
let store: SealingStore;

afterEach(() => app.stop());

async function start(): Promise<void> {
  const clock = new TestClock();
  store = new SealingStore(clock);
  app = await startApplication({ store, clock });
}

/** A place where a call of the store waits until it is let go. */
function gate() {
  let arrive = () => {};
  let open = () => {};
  const arrived = new Promise<void>((resolve) => (arrive = resolve));
  const opened = new Promise<void>((resolve) => (open = resolve));
  return {
    arrived,
    open: () => open(),
    wait() {
      arrive();
      return opened;
    },
  };
}

/** Whether a callback replaces the old session now: it has inserted the new one. */
function isTrace({ method, key }: StoreCall, inserted: number): boolean {
  return (
    method === "replace" && key === store.inserted[inserted - 1] && store.inserted.length > inserted
  );
}

describe("a callback and other writers", () => {
  it("two tabs: the one that finds the old session replaced goes on to its own page, however early it reads", async () => {
    await start();
    const user = app.user();
    const first = await user.approve("/idpauth/login/");
    const second = await user.approve("/idpauth/login/");
    const key = store.inserted.at(-1);
    // The first waits before it replaces the old session, and again before it carries over what the
    // second wrote meanwhile.
    const atTrace = gate();
    const atCarryOver = gate();
    const inserted = store.inserted.length;
    let isHeld = false;
    store.before = async (call) => {
      if (isTrace(call, inserted) && !isHeld) {
        isHeld = true;
        await atTrace.wait();
      }
      if (call.method === "replace" && call.key !== key) await atCarryOver.wait();
    };
    const one = user.at(app.auth).get(first);
    await atTrace.arrived;
    const hold = app.provider.hold("token");
    const other = user.at(app.auth).get(second);
    await hold.arrived;
    atTrace.open();
    await atCarryOver.arrived;
    hold.release();
    const late = await other;
    atCarryOver.open();
    expect([(await one).status, late.status]).toEqual([302, 302]);
  });

  it("a store that fails while another writer's change is carried over signs nobody out", async () => {
    await start();
    const user = app.user();
    await user.signIn();
    const key = store.inserted.at(-1);
    const callback = await user.approve("/idpauth/login/");
    const inserted = store.inserted.length;
    store.before = async (call) => {
      if (!isTrace(call, inserted)) return;
      // Another tab begins to sign in; then the store fails for every write to the new session.
      store.before = undefined;
      await user.at(app.auth).get("/idpauth/login/");
      store.before = ({ method, key: other }) => {
        if (method === "replace" && other !== key) throw new Error("connection lost");
      };
    };
    expect((await user.get(callback)).status).toBe(302);
    store.before = undefined;
    expect(await user.isSignedIn()).toBe(true);
  });
});
