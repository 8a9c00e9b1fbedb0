import { afterEach, describe, expect, it } from "vitest";
import { signedInAs } from "../../src/testing/sign-in/signed-in-as.js";
import { TestClock } from "../../src/testing/test-clock.js";
import {
  OWN_ORIGIN,
  type ApplicationOptions,
  type CallOptions,
  type TestUser,
} from "../support/application.js";
import { watchedStore } from "../support/watched-store.js";
import { settled } from "../../src/testing/settled.js";
import { application as app, start as startPlain } from "../support/one-application.js";

const PATH = "/idpauth/sessions";
const JSON_WANTED = { accept: "application/json", "sec-fetch-site": "same-origin" };

interface Listed {
  readonly sessions: readonly {
    id: string;
    label: string | null;
    signed_in_at: number;
    last_active: number;
    current: boolean;
  }[];
  readonly has_more: boolean;
}

afterEach(() => app.stop());

const start = (options: ApplicationOptions = {}) =>
  startPlain({ sessionsPage: true, sessionLabel: () => "Firefox", ...options });

async function signedIn(sub = "ada"): Promise<TestUser> {
  const user = app.user();
  await user.signIn(undefined, { sub });
  app.clock.advance(1_000);
  return user;
}

const listOf = async (user: TestUser) =>
  ((await user.get(PATH, { headers: JSON_WANTED })).json() as Listed).sessions;
const end = (user: TestUser, value: string, options: CallOptions = { headers: JSON_WANTED }) =>
  user.post(PATH, { end: value }, options);
const who = async (...users: TestUser[]) => Promise.all(users.map((user) => user.isSignedIn()));

describe("the sessions page", () => {
  it("is 404 unless it is on", async () => {
    await start({ sessionsPage: false });
    expect((await (await signedIn()).get(PATH)).status).toBe(404);
  });

  it("lists the user's own sessions, as JSON and as a page whose forms stay on this site", async () => {
    await start();
    const [laptop, phone] = [await signedIn(), await signedIn()];
    await signedIn("grace");
    expect((await listOf(laptop)).map(({ label, current }) => [label, current])).toEqual([
      ["Firefox", false],
      ["Firefox", true],
    ]);
    const page = await phone.get(PATH, { headers: { accept: "text/html" } });
    expect(page.headers["Content-Security-Policy"]).toContain("form-action 'self'");
    expect(page.body).toContain("Your sessions");
  });

  it.each([
    [true, "Firefox on Linux"],
    [false, null],
  ])(
    "with the page turned on (%s), a session without a label of the application is called %s",
    async (sessionsPage, label) => {
      const user = await startPlain({ sessionsPage });
      const target = await user.approve();
      const userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0";
      await user.get(target, { headers: { "user-agent": userAgent } });
      const session = await app.auth.getSession(user.request("/"));
      const { iss, sub } = session?.claims ?? { iss: "", sub: "" };
      const listed = await app.auth.listSessions({ iss, sub });
      expect(listed.map((session) => session.label)).toEqual([label]);
    },
  );

  it("has a script that writes its times in the reader's zone, and reads nothing else", async () => {
    await start();
    const { status, headers, body } = await app.user().get("/idpauth/times.js");
    expect([status, headers["Content-Type"]]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(headers["X-Content-Type-Options"]).toBe("nosniff");
    expect(body).not.toMatch(/location|cookie|fetch|innerHTML|storage|eval|import/i);
    const user = await signedIn();
    const page = await user.get(PATH, { headers: { accept: "text/html" } });
    expect(page.headers["Content-Security-Policy"]).toContain(
      `script-src ${OWN_ORIGIN}/idpauth/times.js;`,
    );
    await start({ sessionsPage: false });
    expect((await app.user().get("/idpauth/times.js")).status).toBe(404);
  });

  it("of a user with 3,001 sessions costs tens of store operations, shows this session and says that there are more", async () => {
    const clock = new TestClock();
    const store = watchedStore(clock);
    await start({ clock, store, sessionsPerUser: 0 });
    for (let number = 0; number < 3_000; number += 1) await signedInAs(app.auth, { sub: "ada" });
    // The last one that was written, so it is in none of the pages that are read.
    const user = await signedIn();
    store.operations.length = 0;
    const { body } = await user.get(PATH, { headers: { accept: "text/html" } });
    expect(store.operations.length).toBeLessThan(30);
    expect(body).toContain("This session");
    expect(body).toContain("You have more sessions than this page can show.");
    expect((body as string).match(/class="name"/g)).toHaveLength(100);
    const { sessions, has_more: hasMore } = (
      await user.get(PATH, { headers: JSON_WANTED })
    ).json() as Listed;
    expect([hasMore, sessions.filter(({ current }) => current).length]).toEqual([true, 1]);
  });

  it("sends a signed-out user to the login and back, and responds with 401 to a script", async () => {
    await start();
    const page = await app.user().get(PATH, { headers: { accept: "text/html" } });
    expect([page.status, page.location.startsWith("/idpauth/login/?")]).toEqual([302, true]);
    expect((await app.user().get(PATH, { headers: JSON_WANTED })).status).toBe(401);
  });

  it("ends one session by its id; its browser learns why", async () => {
    await start();
    const [laptop, phone] = [await signedIn(), await signedIn()];
    const other = (await listOf(laptop)).find(({ current }) => !current);
    expect((await end(laptop, other?.id ?? "")).json()).toEqual({ status: "ended", ended: 1 });
    expect(await who(laptop, phone)).toEqual([true, false]);
    const details = (await phone.get("/idpauth/session?details=true")).json() as { reason: string };
    expect(details.reason).toBe("ended_everywhere");
  });

  it("ends no session of another user", async () => {
    await start();
    const [ada, grace] = [await signedIn(), await signedIn("grace")];
    const [own] = await listOf(grace);
    expect((await end(ada, own?.id ?? "")).json()).toEqual({ status: "ended", ended: 0 });
    expect(await who(ada, grace)).toEqual([true, true]);
  });

  it("others: every other session; all: this one too, whose token is revoked", async () => {
    await start();
    const [one, two, three] = [await signedIn(), await signedIn(), await signedIn()];
    expect((await end(one, "others")).json()).toEqual({ status: "ended", ended: 2 });
    expect(await who(one, two, three)).toEqual([true, false, false]);
    const four = await signedIn();
    const reply = await end(one, "all", {
      headers: { "sec-fetch-site": "same-origin", accept: "text/html" },
    });
    expect([reply.status, reply.location]).toEqual([303, "/idpauth/"]);
    expect(await who(one, four)).toEqual([false, false]);
    await settled(app.auth);
    expect(app.provider.requestsTo("revoke")).toHaveLength(1);
  });

  it("its own id ends this session", async () => {
    await start();
    const user = await signedIn();
    const [own] = await listOf(user);
    await end(user, own?.id ?? "");
    expect([await user.isSignedIn(), user.cookies.size]).toEqual([false, 0]);
  });

  it("a form without script comes back to the page", async () => {
    await start();
    const reply = await end(await signedIn(), "others", {
      headers: { "sec-fetch-site": undefined, origin: "http://app.example", accept: "text/html" },
    });
    expect([reply.status, reply.location]).toEqual([303, PATH]);
  });

  it.each([
    ["of a sibling subdomain", { "sec-fetch-site": "same-site" }],
    ["of another site", { "sec-fetch-site": "cross-site" }],
    ["typed by the user", { "sec-fetch-site": "none" }],
    [
      "of another origin, in an older browser",
      { "sec-fetch-site": undefined, origin: "https://evil.example" },
    ],
    ["of an opaque origin", { "sec-fetch-site": undefined, origin: "null" }],
    ["without both headers", { "sec-fetch-site": undefined }],
    ["that contradicts itself", { "sec-fetch-site": "cross-site", origin: "http://app.example" }],
  ])("refuses a request %s with 403", async (_, headers) => {
    await start();
    const [one, two] = [await signedIn(), await signedIn()];
    expect((await end(one, "all", { headers })).status).toBe(403);
    expect(await who(one, two)).toEqual([true, true]);
  });

  it.each([[{}], [{ end: "" }]])("responds with 400 to the form %j", async (fields) => {
    await start();
    const user = await signedIn();
    expect(
      (await user.post(PATH, fields as Record<string, string>, { headers: JSON_WANTED })).status,
    ).toBe(400);
    expect(await user.isSignedIn()).toBe(true);
  });
});
