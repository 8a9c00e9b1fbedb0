import { afterEach, describe, expect, it } from "vitest";
import type { ApplicationOptions, TestUser } from "../support/application.js";
import { application, pass, signedIn, start, store } from "../support/one-application.js";

const HOUR = 3600;
/** A new one each time, because what an accessor reads is remembered for its request. */
const request = (user: TestUser) => user.request("/reports");

describe("functions without side effects", () => {
  afterEach(() => application.stop());
  type Look = (user: TestUser) => Promise<unknown>;
  const LOOKS: [string, Look][] = [
    ["checkIdpAuthentication", (user) => application.auth.checkIdpAuthentication(request(user))],
    [
      "explainIdpAuthentication",
      (user) => application.auth.explainIdpAuthentication(request(user)),
    ],
    ["readSessionRecord", (user) => application.auth.readSessionRecord(request(user))],
  ];
  const SESSIONS: [string, ApplicationOptions, number][] = [
    ["valid", { sessionIdleTimeout: 10 * HOUR }, 60],
    ["expired and refreshable", { sessionIdleTimeout: 10 * HOUR }, HOUR],
    ["due for a longer life", { sessionIdleTimeout: 10 * 86_400 }, 2 * 86_400],
    ["beyond a cap", { sessionMaxAge: 60 }, 61],
  ];

  it.each(
    LOOKS.flatMap(([name, look]) =>
      SESSIONS.map(([state, options, seconds]) => [name, state, options, seconds, look] as const),
    ),
  )(
    "%s of a session that is %s: one read, no write, no request, no log line, no event",
    async (_name, _state, options, seconds, look) => {
      const user = await signedIn(options);
      pass(seconds);
      const events: unknown[] = [];
      for (const name of ["login", "refresh", "logout", "blocked", "ended", "failure"] as const)
        application.auth.on(name, (event) => events.push(event));
      store.operations.length = 0;
      const [requests, lines, cookies] = [
        application.provider.requests.length,
        application.log.length,
        new Map(user.cookies),
      ];
      const before = JSON.stringify(await store.entries());
      await look(user);
      expect(store.operations).toEqual(["get"]);
      expect(JSON.stringify(await store.entries())).toBe(before);
      expect([application.provider.requests.length, application.log.length, events]).toEqual([
        requests,
        lines,
        [],
      ]);
      expect(user.cookies).toEqual(cookies);
    },
  );

  it.each(LOOKS)("%s of a user without a session does nothing at all", async (_name, look) => {
    const user = await start();
    await look(user);
    expect(store.operations).toEqual([]);
    expect(application.provider.requests).toEqual([]);
  });
});
