import { describe, expect, it, vi } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import { createSessionEnding, type Ending } from "../../src/sessions/end-by-key.js";
import type { EntryPages } from "../../src/sessions/store-failures.js";
import { traceOf } from "../../src/sessions/end-trace.js";
import type { Handle } from "../../src/sessions/session-entries.js";
import { newHandle, storedSessions } from "../support/stored-sessions.js";

function setUp() {
  const parts = storedSessions();
  const onEnded = vi.fn();
  const announce = vi.fn();
  const ending: Ending = { reason: "ended_everywhere", announce };
  const { end, endListed } = createSessionEnding({ ...parts, onEnded });
  const reasonOf = async (handle: Handle) => {
    const stored = await parts.sealing.peek(handle.key);
    return stored && parts.entries.endOf(stored, handle);
  };
  return { ...parts, onEnded, announce, ending, end, endListed, reasonOf };
}

describe("ending sessions by their keys", () => {
  it("deletes them, leaves their traces, and reports each once", async () => {
    const { signIn, end, ending, announce, onEnded, remaining, reasonOf } = setUp();
    const handles = [await signIn(), await signIn()];
    expect(
      await end(
        handles.map(({ key }) => key),
        ending,
      ),
    ).toBe(2);
    expect(await remaining(handles)).toEqual([false, false]);
    expect(await Promise.all(handles.map(reasonOf))).toEqual([
      "ended_everywhere",
      "ended_everywhere",
    ]);
    expect(announce).toHaveBeenCalledTimes(2);
    expect(onEnded.mock.calls).toEqual(handles.map(({ key }) => [key, "ended_everywhere"]));
  });

  it("counts and reports no session that is gone, and leaves no trace of it", async () => {
    const { end, ending, announce, onEnded, reasonOf } = setUp();
    const gone = newHandle();
    expect(await end([gone.key], ending)).toBe(0);
    expect(await reasonOf(gone)).toBeUndefined();
    expect([announce.mock.calls, onEnded.mock.calls]).toEqual([[], []]);
  });

  it("counts no trace, which stays a trace", async () => {
    const { store, sealer, now, end, ending, announce, onEnded, reasonOf } = setUp();
    const handle = newHandle();
    await store.insert(
      handle.key,
      traceOf(sealer, handle.key, { reason: "logged_out_at_provider", now: now() }),
    );
    expect(await end([handle.key], ending)).toBe(0);
    expect(await reasonOf(handle)).toBeDefined();
    expect([announce.mock.calls, onEnded.mock.calls]).toEqual([[], []]);
  });

  it("counts no session whose end was announced before, but those that watch it learn of it", async () => {
    const { signIn, end, ending, announce, onEnded } = setUp();
    const { key } = await signIn({ ended: "idle" });
    expect(await end([key], ending)).toBe(0);
    expect(announce).not.toHaveBeenCalled();
    expect(onEnded).toHaveBeenCalledExactlyOnceWith(key, "ended_everywhere");
  });

  it("reports one whose summary cannot be read", async () => {
    const { signIn, store, end, ending, announce } = setUp();
    const { key } = await signIn({ ended: "idle" });
    const stored = (await store.get(key))!;
    await store.replace(key, { ...stored, summary: Uint8Array.of(1) }, stored.version);
    expect(await end([key], ending)).toBe(1);
    expect(announce).toHaveBeenCalledOnce();
  });

  it("needs no trace: without space for one, the session has ended, too", async () => {
    const { signIn, sealing, end, ending, announce } = setUp();
    const { key } = await signIn();
    sealing.before = ({ method }) => {
      if (method === "insert") throw new Error("full");
    };
    expect(await end([key], ending)).toBe(1);
    expect(announce).toHaveBeenCalledOnce();
    expect(await sealing.peek(key)).toBeUndefined();
  });

  it("deletes at most 16 at a time, and each once", async () => {
    const { signIn, sealing, end, ending } = setUp();
    const keys: string[] = [];
    for (let count = 0; count < 40; count += 1) keys.push((await signIn()).key);
    let running = 0;
    let most = 0;
    sealing.before = async ({ method }) => {
      if (method !== "delete") return;
      most = Math.max(most, (running += 1));
      await Promise.resolve();
    };
    sealing.after = ({ method }) => {
      if (method === "delete") running -= 1;
    };
    expect(await end(keys, ending)).toBe(40);
    expect([most, sealing.count("delete")]).toEqual([16, 40]);
  });

  it("is the same if nobody watches", async () => {
    const parts = storedSessions();
    const { key } = await parts.signIn();
    const ending = { reason: "ended_everywhere", announce: () => undefined } as const;
    expect(await createSessionEnding(parts).end([key], ending)).toBe(1);
  });
});

describe("ending listed sessions", () => {
  const page = (...keys: string[]) =>
    new Map(keys.map((key) => [key, { data: Uint8Array.of(0), version: "1", expiresAt: 1 }]));

  it("reads the list again until it finds none, for those that moved to a new key", async () => {
    const { signIn, endListed, ending, remaining } = setUp();
    const [first, moved, kept] = [await signIn(), await signIn(), await signIn()];
    const walks = [page(first.key, kept.key), page(moved.key, kept.key), page(kept.key)];
    let walk = 0;
    const list = async function* (): EntryPages {
      await Promise.resolve();
      yield walks[walk++] ?? page();
    };
    expect(await endListed(list, (key) => key !== kept.key, ending)).toBe(2);
    expect(walk).toBe(3);
    expect(await remaining([first, moved, kept])).toEqual([false, false, true]);
  });

  it("gives up after eight walks, because the store is broken", async () => {
    const { endListed, ending } = setUp();
    let walks = 0;
    const list = async function* (): EntryPages {
      // A guard of the test itself: it must not run for ever.
      if ((walks += 1) > 20) throw new Error("for ever");
      await Promise.resolve();
      yield page("stubborn");
    };
    await expect(endListed(list, () => true, ending)).rejects.toThrow(
      new StoreUnavailableError("The session store still lists sessions that were just deleted."),
    );
    expect(walks).toBe(8);
  });
});
