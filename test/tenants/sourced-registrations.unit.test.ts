import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { providerSource, splitProviders } from "../../src/config/provider-source.js";
import type { ReadSourced, SourcedProvider } from "../../src/config/read-settings.js";
import type { Finding, ProviderUnavailableError } from "../../src/errors.js";
import type { Provider } from "../../src/ports/provider.js";
import type { Registration } from "../../src/ports/registration.js";
import {
  createSourcedRegistrations,
  type KeyOrigin,
  type SourcedRegistrations,
} from "../../src/tenants/sourced-registrations.js";
import { TestClock } from "../../src/testing/test-clock.js";

const WRONG: Finding = {
  code: "E003",
  severity: "error",
  message: "The client ID is empty.",
  remedy: "Set it.",
};
const ODD: Finding = { ...WRONG, code: "W004", severity: "warning" };

/** What the fake source returns for a key. */
type Settings = Readonly<Record<string, unknown>>;
type Find = (key: string) => unknown;

/** What a database's mapper returns. */
class Entity {
  save() {
    return this;
  }
}

/** Settles what can settle without time passing. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const keys = (count: number, prefix = "key") =>
  Array.from({ length: count }, (_, index) => `${prefix}-${String(index)}`);

/** What came of a search: the created registration, undefined, or the reason of its error. */
type Outcome = Registration | string | undefined;

class Rig {
  readonly clock = new TestClock();
  /** The keys that `find` was called with, and the running calls at their highest. */
  readonly asked: string[] = [];
  running = 0;
  most = 0;
  readonly created: Registration[] = [];
  readonly failures: (string | undefined)[] = [];
  readonly reports: string[] = [];
  find: Find;
  readonly registrations: SourcedRegistrations<Registration>;

  constructor(find: Find, limits: { readonly maxAge?: number; readonly limit?: number } = {}) {
    this.find = find;
    const { source } = splitProviders(
      providerSource({ find: (key) => this.#call(key) as undefined, ...limits }),
    );
    this.registrations = createSourcedRegistrations({
      source: source!,
      read,
      clock: this.clock,
      create: ({ key }) => this.#create(key),
      onFailure: (key) => this.failures.push(key),
      onFindings: (key, findings) =>
        this.reports.push(`${key}: ${findings.map(({ code }) => code).join(" ")}`),
    });
  }

  #call(key: string): unknown {
    this.asked.push(key);
    const result = this.find(key);
    if (!(result instanceof Promise)) return result;
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    return result.finally(() => (this.running -= 1));
  }

  #create(key: string): Registration {
    const registration: Registration = {
      ...{ key, name: key, icon: undefined },
      ...{ issuer: `https://${key}.example`, clientId: key },
      provider: {} as Provider,
    };
    this.created.push(registration);
    return registration;
  }

  /** Searches, and returns what came of it. */
  async search(key: string, origin: KeyOrigin = "request"): Promise<Outcome> {
    try {
      return await this.registrations.find(key, origin);
    } catch (error) {
      return (error as ProviderUnavailableError).reason;
    }
  }
}

const read: ReadSourced = (key, options) => {
  const { wrong, odd } = options as Settings;
  return wrong === true
    ? { provider: undefined, findings: [WRONG] }
    : { provider: { key } as SourcedProvider, findings: odd === true ? [ODD] : [] };
};

const settingsOf = (key: string): Settings => ({ issuer: `https://${key}.example`, clientId: key });

/** A source whose calls end when the test says. */
function held() {
  const waiting = new Map<string, (result: unknown) => void>();
  return {
    find: (key: string) => new Promise<unknown>((resolve) => waiting.set(key, resolve)),
    keys: () => [...waiting.keys()],
    end(key: string, result: unknown = settingsOf(key)) {
      waiting.get(key)?.(result);
      waiting.delete(key);
    },
  };
}

const unhandled: unknown[] = [];
const note = (error: unknown) => unhandled.push(error);
beforeEach(() => {
  process.on("unhandledRejection", note);
});
afterEach(async () => {
  await turn();
  process.off("unhandledRejection", note);
  expect(unhandled.splice(0)).toEqual([]);
});

describe("a source is called", () => {
  it("once for all that need a key at the same time", async () => {
    const { find, end } = held();
    const rig = new Rig(find);
    const searches = Array.from({ length: 100 }, () => rig.search("acme"));
    await turn();
    expect(rig.asked).toEqual(["acme"]);
    end("acme");
    const [first, ...others] = await Promise.all(searches);
    expect(first).toMatchObject({ key: "acme" });
    expect(new Set(others)).toEqual(new Set([first]));
    expect(rig.created).toHaveLength(1);
  });

  it("never for a key of another form", async () => {
    const rig = new Rig(settingsOf);
    const malformed = ["", "Acme", "1acme", "-acme", "a_b", "a.b", "../x", "a/b", "a b", "ä"];
    for (const key of [...malformed, "a".repeat(64), "__proto__", "acme\n", "acme\0"]) {
      expect(await rig.search(key)).toBeUndefined();
      expect(await rig.search(key, "session")).toBeUndefined();
    }
    expect(rig.asked).toEqual([]);
    for (const key of ["a", "a".repeat(63), "constructor", "a-1-"])
      expect(await rig.search(key)).toMatchObject({ key });
  });

  it("16 times at a time, in the order of the requests", async () => {
    const { find, end } = held();
    const rig = new Rig(find);
    const searches = keys(100).map((key) => rig.search(key, "session"));
    await turn();
    expect(rig.asked).toEqual(keys(16));
    for (const key of keys(100)) {
      end(key);
      await turn();
    }
    expect((await Promise.all(searches)).map((one) => (one as Registration).key)).toEqual(
      keys(100),
    );
    expect([rig.most, rig.asked]).toEqual([16, keys(100)]);
  });

  it("8 times at a time for keys that strangers may have written, so that sessions have the rest", async () => {
    const { find, end } = held();
    const rig = new Rig(find);
    const strangers = keys(1_000).map((key) => rig.search(key));
    await turn();
    expect(rig.asked).toHaveLength(8);
    const user = rig.search("acme", "session");
    await turn();
    expect(rig.asked.slice(8)).toEqual(["acme"]);
    end("acme");
    expect(await user).toMatchObject({ key: "acme" });
    // Those that hang end after five seconds, and those that wait for them too.
    await rig.clock.advanceAsync(10_000);
    await rig.clock.advanceAsync(10_000);
    expect(new Set(await Promise.all(strangers))).toEqual(new Set(["provider_source"]));
    expect(rig.most).toBeLessThanOrEqual(9);
  });

  it("for a session ahead of strangers who wait for the same key", async () => {
    const { find, end } = held();
    const rig = new Rig(find);
    const strangers = [...keys(8), "acme", "globex"].map((key) => rig.search(key));
    await turn();
    const users = [rig.search("acme", "session"), rig.search("acme", "session")];
    const late = rig.search("acme");
    await turn();
    expect(rig.asked.slice(8)).toEqual(["acme"]);
    end("acme");
    const [first, second] = await Promise.all(users);
    expect([second, await late]).toEqual([first, first]);
    for (const key of keys(8)) end(key);
    await turn();
    // The stranger gets what the session's call has found.
    expect(rig.asked.slice(8)).toEqual(["acme", "globex"]);
    end("globex");
    expect((await Promise.all(strangers))[8]).toBe(first);
    expect(rig.created).toHaveLength(10);
  });

  it("turns strangers away at once where too many wait already", async () => {
    const rig = new Rig(() => new Promise(() => undefined));
    let turnedAway = 0;
    for (const key of keys(1_000))
      void rig.search(key).then((outcome) => (turnedAway += outcome === "provider_source" ? 1 : 0));
    await turn();
    expect(turnedAway).toBe(1_000 - 8 - 8 * 50);
  });

  it("for five seconds, and what it returns later is ignored", async () => {
    const { find, end } = held();
    const rig = new Rig(find);
    const search = rig.search("acme", "session");
    await rig.clock.advanceAsync(4_999);
    expect(rig.failures).toEqual([]);
    await rig.clock.advanceAsync(1);
    expect(await search).toBe("provider_source");
    expect(rig.failures).toEqual(["acme"]);
    end("acme");
    await turn();
    expect(rig.registrations.remembered("acme")).toBeUndefined();
    expect(rig.clock.pendingTimers).toBe(0);
  });

  it("again after a call that failed: an outage isn't remembered", async () => {
    const rig = new Rig(() => {
      throw new Error("the database is down");
    });
    expect(await rig.search("acme")).toBe("provider_source");
    rig.find = () => Promise.reject(new Error("the database is down"));
    expect(await rig.search("acme", "session")).toBe("provider_source");
    rig.find = settingsOf;
    expect(await rig.search("acme")).toMatchObject({ key: "acme" });
    // A key that a stranger has written isn't named.
    expect([rig.asked.length, rig.failures]).toEqual([3, [undefined, "acme"]]);
  });

  it("and its rejection is handled, also where it comes late or nobody waits for it any more", async () => {
    const calls: ((error: Error) => void)[] = [];
    const rig = new Rig(() => new Promise((_, reject) => calls.push(reject)));
    const search = rig.search("acme");
    const forgotten = rig.search("globex");
    await turn();
    rig.registrations.forget("globex");
    calls[1]?.(new Error("refused"));
    expect(await forgotten).toBe("provider_source");
    await rig.clock.advanceAsync(5_000);
    expect(await search).toBe("provider_source");
    calls[0]?.(new Error("late"));
    await turn();
  });
});

describe("a provider is remembered", () => {
  it("for `maxAge`, and then the source is asked once", async () => {
    const rig = new Rig(settingsOf, { maxAge: 60 });
    const first = await rig.search("acme");
    rig.clock.advance(59_999);
    expect(rig.registrations.find("acme", "request")).toBe(first);
    rig.clock.advance(1);
    await Promise.all([rig.search("acme"), rig.search("acme", "session")]);
    expect(rig.asked).toEqual(["acme", "acme"]);
  });

  it("with all that is known of it, as long as its settings are the same", async () => {
    const rig = new Rig(settingsOf);
    const first = await rig.search("acme");
    rig.clock.advance(300_000);
    expect(await rig.search("acme")).toBe(first);
    rig.find = (key) => ({ ...settingsOf(key), clientSecret: "changed" });
    rig.clock.advance(300_000);
    const second = await rig.search("acme");
    expect(second).not.toBe(first);
    rig.clock.advance(300_000);
    expect(await rig.search("acme")).toBe(second);
    expect(rig.created).toHaveLength(2);
  });

  it("anew if the application changes the object that it returned before", async () => {
    const settings: Record<string, unknown> = { ...settingsOf("acme"), scope: ["openid"] };
    const rig = new Rig(() => settings);
    const first = await rig.search("acme");
    (settings["scope"] as string[]).push("email");
    rig.clock.advance(300_000);
    expect(await rig.search("acme")).not.toBe(first);
  });

  it("anew by an equal object of functions only if a function is another one", async () => {
    const sign = () => undefined;
    let settings: Settings = { ...settingsOf("acme"), sign };
    const rig = new Rig(() => ({ ...settings }));
    const first = await rig.search("acme");
    rig.clock.advance(300_000);
    expect(await rig.search("acme")).toBe(first);
    settings = { ...settings, sign: () => undefined };
    rig.clock.advance(300_000);
    expect(await rig.search("acme")).not.toBe(first);
  });

  it.each([
    ["a row without a prototype", (row: Settings) => Object.assign(Object.create(null), row)],
    ["an entity with a class", (row: Settings) => Object.assign(new Entity(), row)],
  ])("also if the source returns %s", async (_what, wrapped: (row: Settings) => Settings) => {
    const rig = new Rig((key) => wrapped(settingsOf(key)));
    const first = await rig.search("acme");
    rig.clock.advance(300_000);
    expect(await rig.search("acme")).toBe(first);
  });

  it("while it is used: one more than `limit` drops the one that was unused for longest", async () => {
    const rig = new Rig(settingsOf, { limit: 3 });
    for (const key of ["a", "b", "c", "a", "d"]) await rig.search(key);
    const remembered = ["a", "b", "c", "d"].filter((key) => rig.registrations.remembered(key));
    expect(remembered).toEqual(["a", "c", "d"]);
    // To look is not to use.
    rig.registrations.remembered("c");
    await rig.search("b");
    expect(rig.registrations.remembered("c")).toBeUndefined();
    expect(rig.asked).toEqual(["a", "b", "c", "d", "b"]);
  });

  it("1,000 at most, however many there are", async () => {
    const rig = new Rig(settingsOf);
    for (const key of keys(10_000)) await rig.search(key);
    const remembered = keys(10_000).filter((key) => rig.registrations.remembered(key));
    expect(remembered).toEqual(keys(10_000).slice(9_000));
  });

  it("until the source no longer has it", async () => {
    const rig = new Rig(settingsOf);
    await rig.search("acme");
    rig.find = () => undefined;
    rig.clock.advance(300_000);
    expect(await rig.search("acme", "session")).toBeUndefined();
    expect(rig.registrations.remembered("acme")).toBeUndefined();
  });

  it("no longer where the source fails afterwards, and as before when it is back", async () => {
    const rig = new Rig(settingsOf);
    const first = await rig.search("acme");
    rig.clock.advance(300_000);
    rig.find = () => {
      throw new Error("the database is down");
    };
    expect(await rig.search("acme", "session")).toBe("provider_source");
    rig.find = settingsOf;
    expect(await rig.search("acme", "session")).toBe(first);
  });
});

describe("a key without a provider", () => {
  it.each([undefined, null])("(%s) isn't asked for again for ten seconds", async (nothing) => {
    const rig = new Rig(() => nothing);
    expect(await rig.search("nobody")).toBeUndefined();
    rig.clock.advance(9_999);
    expect(rig.registrations.find("nobody", "session")).toBeUndefined();
    expect(rig.asked).toHaveLength(1);
    rig.find = settingsOf;
    rig.clock.advance(1);
    expect(await rig.search("nobody")).toMatchObject({ key: "nobody" });
  });

  it("is one of 1,000 at most that are remembered", async () => {
    const rig = new Rig(() => undefined);
    for (const key of keys(10_000)) await rig.search(key);
    rig.asked.splice(0);
    for (const key of keys(10_000).reverse()) await rig.search(key);
    expect(rig.asked).toEqual(keys(9_000).reverse());
  });

  it("drops no provider", async () => {
    const rig = new Rig((key) => (key === "acme" ? settingsOf(key) : undefined));
    await rig.search("acme");
    for (const key of keys(10_000)) await rig.search(key);
    expect(rig.registrations.remembered("acme")).toMatchObject({ key: "acme" });
  });
});

describe("settings that can't be used", () => {
  it("are an outage for ten seconds, with one report", async () => {
    const rig = new Rig((key) => ({ ...settingsOf(key), wrong: true }));
    expect(await rig.search("acme")).toBe("provider_settings");
    rig.clock.advance(9_999);
    expect(await rig.search("acme", "session")).toBe("provider_settings");
    expect([rig.asked.length, rig.reports]).toEqual([1, ["acme: E003"]]);
    rig.clock.advance(1);
    rig.find = settingsOf;
    expect(await rig.search("acme")).toMatchObject({ key: "acme" });
    expect(rig.failures).toEqual([]);
  });

  it("also end what was remembered of their provider", async () => {
    const rig = new Rig(settingsOf);
    await rig.search("acme");
    rig.find = (key) => ({ ...settingsOf(key), wrong: true });
    rig.clock.advance(300_000);
    expect(await rig.search("acme", "session")).toBe("provider_settings");
    expect(rig.registrations.remembered("acme")).toBeUndefined();
  });

  it("that are merely odd are reported once, and used", async () => {
    const rig = new Rig((key) => ({ ...settingsOf(key), odd: true }));
    expect(await rig.search("acme")).toMatchObject({ key: "acme" });
    rig.clock.advance(300_000);
    await rig.search("acme");
    expect(rig.reports).toEqual(["acme: W004"]);
  });
});

describe("forget", () => {
  it("makes the next use ask again", async () => {
    const rig = new Rig(settingsOf);
    const first = await rig.search("acme");
    rig.registrations.forget("acme");
    expect(rig.registrations.remembered("acme")).toBeUndefined();
    expect(await rig.search("acme")).not.toBe(first);
    rig.registrations.forget("never heard of");
  });

  it("forgets also that there is none, and that its settings are wrong", async () => {
    const rig = new Rig((key) => (key === "acme" ? { wrong: true } : undefined));
    for (const key of ["acme", "nobody"]) {
      await rig.search(key);
      rig.registrations.forget(key);
    }
    rig.find = settingsOf;
    for (const key of ["acme", "nobody"]) expect(await rig.search(key)).toMatchObject({ key });
  });

  it("during a call leaves nothing of what the call returns", async () => {
    const { find, end } = held();
    const rig = new Rig(find);
    const before = rig.search("acme");
    await turn();
    rig.registrations.forget("acme");
    end("acme", { clientId: "old" });
    expect(await before).toMatchObject({ key: "acme" });
    expect(rig.registrations.remembered("acme")).toBeUndefined();
    const after = rig.search("acme");
    await turn();
    end("acme", undefined);
    expect(await after).toMatchObject({ key: "acme" });
    expect(rig.asked).toEqual(["acme", "acme"]);
  });

  it("of a key whose call is still queued leaves the call, which hasn't asked yet", async () => {
    const { find, end } = held();
    const rig = new Rig(find);
    for (const key of keys(8)) void rig.search(key);
    const search = rig.search("acme");
    await turn();
    rig.registrations.forget("acme");
    for (const key of keys(8)) end(key);
    await turn();
    end("acme");
    const found = await search;
    expect(found).toMatchObject({ key: "acme" });
    expect(rig.registrations.remembered("acme")).toBe(found);
  });

  it("during a call leaves what a later call has returned meanwhile", async () => {
    const ends: ((settings: Settings) => void)[] = [];
    const rig = new Rig(() => new Promise((resolve) => ends.push(resolve)));
    const before = rig.search("acme");
    await turn();
    rig.registrations.forget("acme");
    const after = rig.search("acme");
    await turn();
    ends[1]?.({ clientId: "new" });
    const kept = await after;
    ends[0]?.({ clientId: "old" });
    expect(await before).not.toBe(kept);
    expect(rig.registrations.remembered("acme")).toBe(kept);
  });

  it("during a call that finds nobody leaves no trace of that", async () => {
    const { find, end } = held();
    const rig = new Rig(find);
    const before = rig.search("acme");
    await turn();
    rig.registrations.forget("acme");
    end("acme", null);
    expect(await before).toBeUndefined();
    rig.find = settingsOf;
    expect(await rig.search("acme")).toMatchObject({ key: "acme" });
  });
});

describe("whatever happens in whatever order", () => {
  const KEYS = keys(30);
  const step = fc.oneof(
    fc.record({
      kind: fc.constant("search" as const),
      key: fc.constantFrom(...KEYS),
      origin: fc.constantFrom("request" as const, "session" as const),
      result: fc.constantFrom(
        "settings",
        "changed",
        "wrong",
        "nothing",
        "throws",
        "rejects",
        "hangs",
      ),
    }),
    fc.record({ kind: fc.constant("forget" as const), key: fc.constantFrom(...KEYS) }),
    fc.record({
      kind: fc.constant("pass" as const),
      milliseconds: fc.constantFrom(1, 5_000, 10_000, 60_000),
    }),
  );
  let revision = 0;
  const results: Readonly<Record<string, Find>> = {
    settings: settingsOf,
    changed: (key) => ({ ...settingsOf(key), revision: (revision += 1) }),
    wrong: () => ({ wrong: true }),
    nothing: () => undefined,
    throws() {
      throw new Error("down");
    },
    rejects: () => Promise.reject(new Error("down")),
    hangs: () => new Promise(() => undefined),
  };

  it("at most `limit` are remembered, 16 calls run, and all searches end", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (steps) => {
        const rig = new Rig(settingsOf, { limit: 5, maxAge: 60 });
        const searches: Promise<Outcome>[] = [];
        for (const one of steps) {
          if (one.kind === "search") {
            rig.find = results[one.result] ?? settingsOf;
            searches.push(rig.search(one.key, one.origin));
            await turn();
          } else if (one.kind === "forget") rig.registrations.forget(one.key);
          else await rig.clock.advanceAsync(one.milliseconds);
          const remembered = KEYS.filter((key) => rig.registrations.remembered(key));
          expect(remembered.length).toBeLessThanOrEqual(5);
        }
        rig.find = settingsOf;
        for (let wait = 0; wait < 3; wait += 1) await rig.clock.advanceAsync(10_000);
        const outcomes = await Promise.all(searches);
        const reasons = outcomes.filter((one) => typeof one === "string");
        expect(["provider_source", "provider_settings"]).toEqual(expect.arrayContaining(reasons));
        expect(rig.most).toBeLessThanOrEqual(16);
        expect(rig.clock.pendingTimers).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
