import { afterEach, describe, expect, it } from "vitest";
import { type ApplicationOptions, type TestUser } from "../support/application.js";
import type { SealingStore } from "../support/sealing-store.js";
import { settled } from "../../src/testing/settled.js";
import { application, sealing, startOver } from "../support/one-application.js";

const ADA = { sub: "ada", email: "ada@example.com" };
const GRACE = { sub: "grace", email: "grace@example.com" };

let store: SealingStore;
afterEach(() => application.stop());

/** The runs of `onSignOut` in all processes: reason and subject. */
let signOuts: string[];
/** What `endSession` calls the session. */
let id: string;

async function start(options: ApplicationOptions = {}): Promise<TestUser> {
  signOuts = [];
  store = await startOver(sealing, {
    sessionMaxAge: 600,
    backchannelLogout: true,
    onSignOut({ reason, subject }) {
      signOuts.push(`${reason} ${subject.sub}`);
    },
    ...options,
  });
  const user = application.user();
  await user.signIn(undefined, ADA);
  id = (await application.auth.listSessions(subject()))[0]?.id ?? "";
  return user;
}

const subject = () => ({ iss: application.provider.issuer, sub: "ada" });
const post = (token: string) =>
  application.user().post("/idpauth/backchannel-logout", { logout_token: token });

/** Every way to end a session. */
const ENDS: Readonly<Record<string, (user: TestUser) => Promise<unknown>>> = {
  logout: (user) => user.get("/idpauth/logout/"),
  endSession: () => application.auth.endSession(subject(), id),
  endAllSessions: () => application.auth.endAllSessions(subject()),
  "a back-channel logout": () => post(application.provider.logoutToken({ sub: "ada" })),
  "another user's sign-in": (user) => user.signIn(undefined, GRACE),
  "the same user's sign-in": (user) => user.signIn(undefined, ADA),
  "a session limit": (user) => {
    application.clock.advance(601_000);
    return user.isSignedIn();
  },
};
const REASONS: Readonly<Record<string, string>> = {
  "a back-channel logout": "logged_out_at_provider",
  "another user's sign-in": "replaced",
  "a session limit": "max_age",
};

describe("onSignOut runs once for a session", () => {
  it.each(Object.keys(ENDS).filter((end) => end !== "the same user's sign-in"))(
    "that %s ends",
    async (end) => {
      const user = await start();
      await ENDS[end]?.(user);
      await settled(application.auth);
      expect(signOuts).toEqual([`${REASONS[end] ?? "logout"} ada`]);
    },
  );

  it.each(Object.keys(ENDS))("whose limit a request noticed before %s", async (end) => {
    const user = await start();
    await ENDS["a session limit"]?.(user);
    await ENDS[end]?.(user);
    await settled(application.auth);
    expect(signOuts).toEqual(["max_age ada"]);
  });

  it("that two limits end, one after the other", async () => {
    const user = await start({ sessionIdleTimeout: 60 });
    application.clock.advance(61_000);
    expect(await user.isSignedIn()).toBe(false);
    application.clock.advance(600_000);
    expect(await user.isSignedIn()).toBe(false);
    await settled(application.auth);
    expect(signOuts).toEqual(["idle ada"]);
  });

  it("whose limit nobody noticed before the same user's sign-in", async () => {
    const user = await start();
    application.clock.advance(601_000);
    await user.signIn(undefined, ADA);
    await settled(application.auth);
    expect(signOuts).toEqual(["max_age ada"]);
    await user.get("/idpauth/logout/");
    await settled(application.auth);
    expect(signOuts).toEqual(["max_age ada", "logout ada"]);
  });

  it("that another user's sign-in replaces, although a logout at the provider ends the new session at once", async () => {
    const user = await start();
    const back = await user.approve(undefined, GRACE);
    await post(application.provider.logoutToken({ sub: "grace" }));
    expect((await user.get(back)).status).toBe(400);
    await settled(application.auth);
    expect(signOuts).toEqual(["replaced ada", "logged_out_at_provider grace"]);
  });
});

describe("onSignOut runs once in all processes", () => {
  /**
   * Ends the session by a limit in one process and in another way in a second one, with a step of
   * one inside the other.
   */
  async function race(end: string, at: "limit first" | "end first"): Promise<void> {
    const user = await start();
    const other = application.another();
    other.start();
    const elsewhere = user.at(other);
    application.clock.advance(601_000);
    let isFirst = true;
    // A sign-in writes its own session first.
    const lastWrite = end === "another user's sign-in" ? "insert" : "delete";
    // The first writer waits right before its write until the other process has done all of its
    // work.
    store.before = async ({ method }) => {
      if (!isFirst || method !== (at === "end first" ? "replace" : lastWrite)) return;
      isFirst = false;
      if (at === "end first") await ENDS[end]?.(elsewhere);
      else await user.at(other).isSignedIn();
    };
    if (at === "end first") await user.isSignedIn();
    else await ENDS[end]?.(user);
    expect(isFirst).toBe(false);
    store.before = undefined;
    await Promise.all([settled(application.auth), settled(other)]);
  }

  const RACES = [
    "logout",
    "endSession",
    "endAllSessions",
    "a back-channel logout",
    "another user's sign-in",
  ];

  it.each(RACES)(
    "when %s comes between the read and the write of a request that notices a limit",
    async (end) => {
      await race(end, "end first");
      expect(signOuts).toHaveLength(1);
    },
  );

  it.each(RACES)(
    "when a request notices a limit right before %s deletes the session",
    async (end) => {
      await race(end, "limit first");
      expect(signOuts).toHaveLength(1);
    },
  );

  it("when two processes notice the limit at once", async () => {
    const user = await start();
    const other = application.another();
    other.start();
    application.clock.advance(601_000);
    await Promise.all([user.isSignedIn(), user.at(other).isSignedIn()]);
    await Promise.all([settled(application.auth), settled(other)]);
    expect(signOuts).toEqual(["max_age ada"]);
  });
});
