import { TestClock } from "../../src/testing/test-clock.js";
import { LEAVING } from "../support/left-sign-in-trace.js";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { StoreUnavailableError } from "../../src/errors.js";
import type { UserSession } from "../../src/ports/user-session.js";
import type { SessionRecord } from "../../src/record/record.js";
import { storedForm } from "../../src/record/stored-form.js";
import type { EpochSeconds } from "../../src/clock.js";
import {
  createFrameworkSessions,
  type FrameworkSession,
  type FrameworkSessions,
  type FrameworkSessionsOptions,
} from "../../src/sessions/framework-session.js";

type Data = Record<string, unknown>;

const NAMES = {
  credentials: "credentials",
  oauth_state: "oauth_state",
  final_redirect: "final_redirect",
};
const LATER = 2_000 as EpochSeconds;

function barrier(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open!: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/**
 * Middleware as the known ones are: each request has a copy of the session, and a save writes the
 * copy as a whole.
 */
class Middleware {
  readonly stored = new Map<string, Data>();
  readonly calls: string[] = [];
  #held:
    | { readonly call: string; readonly arrived: () => void; readonly released: Promise<void> }
    | undefined;
  #failing: string | undefined;

  request(id: string): RequestSession {
    return new RequestSession(this, id, structuredClone(this.stored.get(id) ?? {}));
  }

  /** Holds the next such call before it does anything. */
  hold(call: string): { readonly arrived: Promise<void>; readonly release: () => void } {
    const [arrival, release] = [barrier(), barrier()];
    this.#held = { call, arrived: arrival.open, released: release.opened };
    return { arrived: arrival.opened, release: release.open };
  }

  /** The next such call fails. */
  fail(call: string): void {
    this.#failing = call;
  }

  async reached(call: string): Promise<void> {
    this.calls.push(call);
    const held = this.#held;
    if (held?.call === call) {
      this.#held = undefined;
      held.arrived();
      await held.released;
    }
    if (this.#failing === call) {
      this.#failing = undefined;
      throw new Error("READONLY");
    }
  }
}

class RequestSession implements FrameworkSession {
  id: string;
  data: Data;
  readonly #middleware: Middleware;

  constructor(middleware: Middleware, id: string, data: Data) {
    this.#middleware = middleware;
    this.id = id;
    this.data = data;
  }

  async load(): Promise<Data | undefined> {
    const data = structuredClone(this.#middleware.stored.get(this.id));
    await this.#middleware.reached(`load ${this.id}`);
    return data;
  }

  async save(keys: Readonly<Data>): Promise<void> {
    this.#put(keys);
    await this.#middleware.reached(`save ${this.id}`);
    this.#middleware.stored.set(this.id, structuredClone(this.data));
  }

  async regenerate(keys: Readonly<Data>, keepApplicationKeys: boolean): Promise<void> {
    await this.#middleware.reached(`regenerate ${this.id}`);
    this.#middleware.stored.delete(this.id);
    this.id = `${this.id}, renewed`;
    if (!keepApplicationKeys) this.data = {};
    this.#put(keys);
    this.#middleware.stored.set(this.id, structuredClone(this.data));
  }

  async destroy(): Promise<void> {
    await this.#middleware.reached(`destroy ${this.id}`);
    this.#middleware.stored.delete(this.id);
    this.data = {};
  }

  #put(keys: Readonly<Data>): void {
    for (const [key, value] of Object.entries(keys)) {
      if (value === undefined) Reflect.deleteProperty(this.data, key);
      else this.data[key] = value;
    }
  }
}

const credentials = (token: string) => ({
  token,
  token_uri: "",
  client_id: "",
  client_secret: "",
  scopes: [],
});
const signedIn = (token: string): SessionRecord => ({
  credentials: credentials(token),
  idp_last_active: 1_000,
  idp_state: { v: 1 },
});
const withToken = (token: string) => (record: SessionRecord) => ({
  ...record,
  credentials: credentials(token),
});
const withState = (record: SessionRecord) => ({ ...record, oauth_state: "a state" });
const same = (record: SessionRecord) => record;

const OPTIONS: FrameworkSessionsOptions = {
  clock: new TestClock(),
  policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
  names: NAMES,
  clients: [{ issuer: "https://provider.example", clientId: "" }],
  namesProviders: false,
  debug: false,
};

let middleware: Middleware;
let sessions: FrameworkSessions;

beforeEach(() => {
  middleware = new Middleware();
  sessions = createFrameworkSessions(OPTIONS);
  middleware.stored.set("ada", { cart: "book", ...storedForm(signedIn("first"), NAMES) });
});

const open = (id = "ada") => sessions.open(middleware.request(id));

describe("changes of one session take turns", () => {
  const changes: readonly (readonly [
    string,
    (session: UserSession) => Promise<unknown> | undefined,
    Data | undefined,
  ])[] = [
    [
      "update",
      (session) => session.update(withState),
      { credentials: credentials("second"), oauth_state: "a state" },
    ],
    [
      "begin",
      (session) => session.begin(withState),
      { credentials: credentials("second"), oauth_state: "a state" },
    ],
    [
      "touch",
      (session) => session.touch(LATER, false),
      { credentials: credentials("second"), idp_last_active: LATER },
    ],
    ["regenerate", (session) => session.regenerate(withState, LEAVING), undefined],
    ["destroy", (session) => session.destroy(), undefined],
  ];

  it.each(changes)(
    "%s waits for a write that is under way, and undoes nothing of it",
    async (_name, change, after) => {
      const first = open();
      const second = open();
      const saving = middleware.hold("save ada");
      const writing = first.update(withToken("second"));
      await saving.arrived;
      const waiting = change(second);
      expect(middleware.calls).toEqual(["load ada", "save ada"]);
      saving.release();
      await Promise.all([writing, waiting]);
      if (after === undefined) expect(middleware.stored.has("ada")).toBe(false);
      else expect(middleware.stored.get("ada")).toMatchObject({ cart: "book", ...after });
    },
  );

  it.each(changes)(
    "a write that comes during %s waits for its end, and loses nothing of it",
    async (_name, change, after) => {
      const first = open();
      const second = open();
      const loading = middleware.hold("load ada");
      const changing = change(first);
      await loading.arrived;
      const waiting = second.update(withToken("second"));
      expect(middleware.calls).toEqual(["load ada"]);
      loading.release();
      await Promise.all([changing, waiting]);
      // A session that has a new id, or is gone, is not brought back under the old one.
      if (after === undefined)
        expect([middleware.stored.has("ada"), await waiting]).toEqual([
          false,
          { changed: false, record: undefined },
        ]);
      else expect(middleware.stored.get("ada")).toMatchObject({ cart: "book", ...after });
    },
  );

  it("in the order they were requested", async () => {
    const seen: unknown[] = [];
    await Promise.all(
      ["second", "third", "fourth"].map((token) =>
        open().update((record) => {
          seen.push(record.credentials?.token);
          return withToken(token)(record);
        }),
      ),
    );
    expect(seen).toEqual(["first", "second", "third"]);
  });

  it("a third waits for the second, although the first has ended", async () => {
    const holdNext = middleware.hold("save ada");
    const first = open().update(withToken("second"));
    await holdNext.arrived;
    const second = open().update(withState);
    holdNext.release();
    const held = middleware.hold("save ada");
    await first;
    await held.arrived;
    const third = open().update(withToken("third"));
    await Promise.resolve();
    expect(middleware.calls.filter((call) => call === "load ada")).toHaveLength(2);
    held.release();
    await Promise.all([second, third]);
    expect(middleware.stored.get("ada")).toMatchObject({
      credentials: credentials("third"),
      oauth_state: "a state",
    });
  });

  it("one that fails does not hold up the next", async () => {
    middleware.fail("save ada");
    const [failed, next] = [open().update(withToken("second")), open().update(withState)];
    await expect(failed).rejects.toThrow(StoreUnavailableError);
    expect(await next).toMatchObject({
      changed: true,
      record: { credentials: { token: "first" }, oauth_state: "a state" },
    });
  });

  it.each([
    ["another session", "grace"],
    ["a session without a name", ""],
  ])("%s waits for nobody", async (_what, other) => {
    middleware.stored.set(other, storedForm(signedIn("hers"), NAMES));
    const held = other === "" ? "" : "ada";
    const loading = middleware.hold(`load ${held}`);
    const waiting = open(held).update(withState);
    await loading.arrived;
    expect(await open(other).update(withToken("new"))).toMatchObject({
      changed: true,
      record: { credentials: { token: "new" } },
    });
    loading.release();
    await waiting;
  });
});

describe("the request's copy", () => {
  const looks: readonly (readonly [
    string,
    (session: UserSession) => Promise<unknown> | undefined,
  ])[] = [
    ["an update that changes nothing", (session) => session.update(same)],
    ["a reload", (session) => session.reload()],
    ["a begin that changes nothing", (session) => session.begin(same)],
    ["a stamp older than the stored one", (session) => session.touch(LATER, false)],
  ];

  it.each(looks)("that is behind the stored record is written at once: %s", async (_name, look) => {
    const request = middleware.request("ada");
    const newer = { ...signedIn("second"), idp_last_active: LATER + 1 };
    middleware.stored.set("ada", { cart: "book", ...storedForm(newer, NAMES) });
    await look(sessions.open(request));
    expect(request.data).toEqual({ cart: "book", ...storedForm(newer, NAMES) });
    expect(middleware.calls).toEqual(["load ada", "save ada"]);
  });

  it("that has keys the stored record no longer has loses them", async () => {
    const request = middleware.request("ada");
    middleware.stored.set("ada", { idp_state: { v: 1 } });
    expect(await sessions.open(request).update(same)).toEqual({
      changed: false,
      record: { idp_state: { v: 1 } },
    });
    expect(request.data).toEqual({ cart: "book", idp_state: { v: 1 } });
  });

  it("that is the stored record is not written again", async () => {
    await open().update(same);
    expect(middleware.calls).toEqual(["load ada"]);
  });

  it("that is behind is written once together with a change", async () => {
    const session = open();
    middleware.stored.set("ada", storedForm(signedIn("second"), NAMES));
    await session.update(withState);
    expect(middleware.calls).toEqual(["load ada", "save ada"]);
    expect(middleware.stored.get("ada")).toMatchObject({
      credentials: { token: "second" },
      oauth_state: "a state",
    });
  });

  it("with a stamp that is not older does not call the store", () => {
    expect([open().touch(null, false), open().touch(1_000, false)]).toEqual([undefined, undefined]);
    expect(middleware.calls).toEqual([]);
  });
});

describe("[SM-7] the application's own keys at a sign-in", () => {
  const ISSUER = "https://provider.example";
  const ADA = { iss: ISSUER, sub: "ada" };
  const record = (over: Partial<SessionRecord> = {}): Data => ({
    ...storedForm(
      {
        credentials: credentials("first"),
        id_info: ADA,
        idp_state: { v: 1, issuer: ISSUER },
        ...over,
      },
      NAMES,
    ),
  });
  const signInAs =
    (idInfo: Data) =>
    (before: SessionRecord): SessionRecord => ({
      ...before,
      credentials: credentials("new"),
      id_info: idInfo,
      idp_state: { v: 1, issuer: ISSUER },
    });
  const { credentials: _none, ...withoutCredentials } = record();

  /** A login and its callback, each in a request of its own. */
  async function signIn(idInfo: Data): Promise<Data> {
    const login = middleware.request("ada");
    await sessions.open(login).begin(withState);
    const callback = middleware.request(login.id);
    expect(await sessions.open(callback).regenerate(signInAs(idInfo), LEAVING)).toMatchObject({
      id_info: idInfo,
    });
    expect([...middleware.stored.keys()]).toEqual([callback.id]);
    return middleware.stored.get(callback.id) ?? {};
  }

  const cases: [string, Data, boolean][] = [
    ["nobody was signed in", {}, true],
    ["a login was pending", { idp_state: { v: 1 } }, true],
    ["only the pending login of another format was there", { idp_state: { v: 99 } }, true],
    ["the same user was signed in", record(), true],
    ["another user was signed in", record({ id_info: { ...ADA, sub: "grace" } }), false],
    [
      "the same subject of another issuer was signed in",
      record({ id_info: { ...ADA, iss: "https://other.example" } }),
      false,
    ],
    ["a user without an identity was signed in", record({ id_info: {} }), false],
    [
      "the same user was signed in for another client",
      record({ credentials: { ...credentials("first"), client_id: "other" } }),
      false,
    ],
    [
      "the same user was signed in at another issuer",
      record({ idp_state: { v: 1, issuer: "https://before.example" } }),
      false,
    ],
    ["the record has another format", { ...record(), idp_state: { v: 99 } }, false],
    ["the record has no private part", { credentials: credentials("first"), id_info: ADA }, false],
    ["the credentials cannot be read", { ...record(), credentials: "token" }, false],
    [
      "the credentials have another name",
      { ...withoutCredentials, tokens: credentials("first"), idp_state: { v: 99 } },
      false,
    ],
    [
      "only another user's identity is left",
      { ...withoutCredentials, id_info: { ...ADA, sub: "grace" } },
      false,
    ],
    ["only the same user's identity is left", withoutCredentials, true],
  ];
  it.each(cases)("%s", async (_name, stored, areKept) => {
    middleware.stored.set("ada", { cart: "book", ...stored });
    const after = await signIn(ADA);
    expect([after["cart"], after["credentials"], after["id_info"]]).toEqual([
      areKept ? "book" : undefined,
      credentials("new"),
      ADA,
    ]);
  });

  it("two logins at once over another client's record bring none of its keys back", async () => {
    middleware.stored.set("ada", {
      cart: "book",
      ...record({ credentials: { ...credentials("first"), client_id: "other" } }),
    });
    const requests = [middleware.request("ada"), middleware.request("ada")];
    await Promise.all(requests.map((request) => sessions.open(request).begin(withState)));
    for (const data of middleware.stored.values())
      expect(data).toEqual({ idp_state: { v: 1 }, oauth_state: "a state" });
  });

  it("go when only the request's own copy is another user's", async () => {
    const request = middleware.request("ada");
    request.data = { cart: "book", ...record({ id_info: { ...ADA, sub: "grace" } }) };
    middleware.stored.set("ada", { idp_state: { v: 1 } });
    await sessions.open(request).regenerate(signInAs(ADA), LEAVING);
    expect(middleware.stored.get(request.id)).not.toHaveProperty("cart");
  });

  it("a login of a user whose record is readable leaves the session under its id", async () => {
    middleware.stored.set("ada", { cart: "book", ...record() });
    await open().begin(withState);
    expect(middleware.stored.get("ada")).toMatchObject({
      cart: "book",
      id_info: ADA,
      oauth_state: "a state",
    });
  });

  it("what the session gets are ordinary objects", async () => {
    const request = middleware.request("ada");
    await sessions.open(request).update(signInAs(ADA));
    for (const key of ["credentials", "id_info", "idp_state"])
      expect(Object.getPrototypeOf(request.data[key])).toBe(Object.prototype);
  });
});

it("a watched session that cannot be read does not hide the ends of the others", async () => {
  const [clock, middleware, told] = [new TestClock(), new Middleware(), [] as string[]];
  const sessions = createFrameworkSessions({
    clock,
    policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
    names: NAMES,
    clients: [{ issuer: "i", clientId: "c" }],
    namesProviders: false,
    debug: false,
  });
  const broken = middleware.request("broken");
  broken.load = () => Promise.reject(new Error("The stored session is no JSON."));
  for (const request of [broken, middleware.request("gone")]) {
    sessions.open(request).watchEnd((reason) => told.push(`${request.id}: ${reason}`));
  }
  await clock.advanceAsync(2_000);
  expect(told).toEqual(["gone: logout"]);
});

it("a session of a provider that the settings no longer contain has a key to report it by", async () => {
  const middleware = new Middleware();
  const open = (namesProviders: boolean) =>
    createFrameworkSessions({
      clock: new TestClock(),
      policy: { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null },
      names: NAMES,
      clients: [{ issuer: "i", clientId: "another" }],
      namesProviders,
      debug: false,
    }).open(middleware.request("ada"));
  middleware.stored.set("ada", { ...storedForm(signedIn("first"), NAMES) });
  const removed = open(true);
  expect(await removed.read()).toBeUndefined();
  expect([removed.endedBy, removed.removedKey]).toEqual(["provider_removed", "ada"]);
  expect(open(false).removedKey).toBeUndefined();
});

describe("a session of the framework", () => {
  it("is not atomic, sends no cookie of its own, and is read from the request's copy", async () => {
    const session = open();
    expect([session.atomic, session.setCookies, session.key]).toEqual([false, [], "ada"]);
    expect((await session.read())?.credentials?.token).toBe("first");
    expect(middleware.calls).toEqual([]);
  });

  it("without an id has no key, which would be everybody's", () => {
    expect(open("").key).toBeUndefined();
  });

  it("that is gone is neither regenerated nor stamped", async () => {
    middleware.stored.clear();
    const change = vi.fn(withState);
    expect(await open().regenerate(change, LEAVING)).toBeUndefined();
    await open().touch(LATER, false);
    expect(change).not.toHaveBeenCalled();
    expect(middleware.calls).toEqual(["load ada", "load ada"]);
  });

  it("without a stamp, or without a record, gets one only if there is a record to stamp", async () => {
    const { idp_last_active: _none, ...unstamped } = signedIn("first");
    middleware.stored.set("ada", storedForm(unstamped, NAMES));
    await open().touch(LATER, false);
    expect(middleware.stored.get("ada")).toMatchObject({ idp_last_active: LATER });
    middleware.stored.set("ada", { cart: "book" });
    await open().touch(LATER, false);
    expect(middleware.stored.get("ada")).toEqual({ cart: "book" });
    expect(open().touch(null, false)).toBeUndefined();
  });

  it.each(["5", null, NaN])(
    "with the stamp %j, which is no time, gets a new one",
    async (stamp) => {
      middleware.stored.set("ada", {
        ...storedForm(signedIn("first"), NAMES),
        idp_last_active: stamp,
      });
      await open().touch(2, false);
      expect(middleware.stored.get("ada")).toMatchObject({ idp_last_active: 2 });
    },
  );

  it("that the middleware can't store is an outage, which has its cause and is reported", async () => {
    const onStoreFailure = vi.fn();
    middleware.fail("save ada");
    const session = createFrameworkSessions({ ...OPTIONS, onStoreFailure }).open(
      middleware.request("ada"),
    );
    const failure: unknown = await session.update(withState).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure).toMatchObject({ cause: new Error("READONLY") });
    expect(onStoreFailure).toHaveBeenCalledExactlyOnceWith(new Error("READONLY"));
  });

  it("whose copy has an unreadable user keeps no key of the application at a sign-in", async () => {
    const request = middleware.request("ada");
    request.data = { cart: "book", credentials: "token" };
    middleware.stored.set("ada", { idp_state: { v: 1 } });
    await sessions.open(request).regenerate(withToken("new"), LEAVING);
    expect(middleware.stored.get(request.id)).not.toHaveProperty("cart");
  });

  it("in which a key of the record is undefined was nobody's", async () => {
    middleware.stored.set("ada", { cart: "book", credentials: undefined, id_info: undefined });
    await open().begin(withState);
    expect(middleware.stored.get("ada")).toMatchObject({ cart: "book", oauth_state: "a state" });
  });
});

describe("the end of a session of the framework", () => {
  function watched(id = "ada"): string[] {
    const reasons: string[] = [];
    open(id).watchEnd((reason) => reasons.push(reason));
    return reasons;
  }

  it.each<[string, (session: UserSession) => unknown]>([
    ["replaced", (session) => session.regenerate(withToken("new"), LEAVING)],
    ["logout", (session) => session.destroy()],
    [
      "idle",
      (session) => {
        session.reportEnd("idle");
      },
    ],
  ])("reaches those that watch it, with the reason %s", async (reason, end) => {
    const [reasons, others] = [watched(), watched("grace")];
    await end(open());
    expect([reasons, others]).toEqual([[reason], []]);
  });

  it("isn't what a sign-in over a pending login is", async () => {
    middleware.stored.set("ada", { idp_state: { v: 1 } });
    const reasons = watched();
    await open().regenerate(withToken("new"), LEAVING);
    expect(reasons).toEqual([]);
  });

  it("isn't watched without an id, which would be everybody's", async () => {
    middleware.stored.set("", storedForm(signedIn("first"), NAMES));
    const reasons = watched("");
    for (const end of [
      (session: UserSession) => session.regenerate(withToken("new"), LEAVING),
      (session: UserSession) => session.destroy(),
    ]) {
      await end(open(""));
      middleware.stored.set("", storedForm(signedIn("first"), NAMES));
    }
    open("").reportEnd("idle");
    expect(reasons).toEqual([]);
  });

  it("isn't found as long as the middleware has the session", async () => {
    const clock = new TestClock();
    sessions = createFrameworkSessions({ ...OPTIONS, clock });
    middleware.stored.set(
      "ada",
      storedForm({ ...signedIn("first"), id_info: { exp: 1e11 } }, NAMES),
    );
    const reasons = watched();
    await clock.advanceAsync(60_000);
    expect(reasons).toEqual([]);
    middleware.stored.delete("ada");
    await clock.advanceAsync(60_000);
    expect(reasons).toEqual(["logout"]);
  });
});
