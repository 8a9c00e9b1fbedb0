import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { afterEach, describe, expect, it } from "vitest";
import type { Events } from "../../src/index.js";
import { startApplication, type Application } from "../support/application.js";
import { leaksIn, secretsOf } from "../support/secrets.js";
import { EVENT_TABLE } from "../../scripts/event-tables.mjs";

const NAMES = Object.keys(EVENT_TABLE) as (keyof Events)[];

let application: Application;
const undo: (() => void)[] = [];

function listen(channel: string, listener: (message: unknown) => void): void {
  const hear = (message: unknown) => {
    listener(message);
  };
  subscribe(channel, hear);
  undo.push(() => unsubscribe(channel, hear));
}

afterEach(async () => {
  for (const each of undo.splice(0)) each();
  await application.stop();
});

describe("node:diagnostics_channel", () => {
  it("hears every event that a listener hears, and every line", async () => {
    application = await startApplication({ sessionMaxAge: 2 * 3600 });
    application.log.length = 0;
    const heard: [string, unknown][] = [];
    const listened: [string, unknown][] = [];
    const lines: unknown[] = [];
    for (const name of NAMES) {
      listen(`idpauth:${name}`, (message) => heard.push([name, message]));
      application.auth.on(name, (event) => listened.push([name, event]));
    }
    listen("idpauth:log", (message) => lines.push(message));

    const user = application.user();
    await user.signIn();
    application.clock.advance(3600_000);
    application.provider.fault("token", { kind: "status", status: 503, times: 1 });
    await user.get("/idpauth/session");
    application.clock.advance(61_000);
    await user.get("/idpauth/session");
    application.clock.advance(3600_000);
    await user.get("/idpauth/session");
    await application.auth.guard(user.request("/reports"));
    await user.get("/idpauth/logout/");

    expect(heard).toEqual(listened);
    expect(new Set(heard.map(([name]) => name))).toEqual(new Set(NAMES));
    expect(lines).toEqual(application.log);
    expect(leaksIn(JSON.stringify([heard, lines]), secretsOf(application))).toEqual([]);
  });

  it("calls listeners and the log within the request that caused them", async () => {
    application = await startApplication();
    const requests = new AsyncLocalStorage<string>();
    const heard: (string | undefined)[][] = [];
    for (const name of NAMES)
      application.auth.on(name, () => void heard.push([name, requests.getStore()]));
    listen("idpauth:log", (line) =>
      heard.push([(line as { code: string }).code, requests.getStore()]),
    );

    const user = application.user();
    await requests.run("sign-in", () => user.signIn());
    application.clock.advance(3600_000);
    application.provider.fault("token", { kind: "status", status: 503, times: 1 });
    await requests.run("outage", () => user.get("/idpauth/session"));
    application.clock.advance(61_000);
    await requests.run("refresh", () => user.get("/idpauth/session"));
    await requests.run("sign-out", () => user.get("/idpauth/logout/"));

    expect(heard).toEqual([
      ["login", "sign-in"],
      ["outage", "outage"],
      ["refresh_failed", "outage"],
      ["failure", "outage"],
      ["refresh", "refresh"],
      ["logout", "sign-out"],
    ]);
  });

  it("reports how long login, refresh, logout and outage took", async () => {
    application = await startApplication();
    const durations: Record<string, unknown> = {};
    for (const name of ["login", "refresh", "logout", "outage"]) {
      listen(
        `idpauth:${name}`,
        (message) => (durations[name] = (message as { duration?: number }).duration),
      );
    }
    const slowly = async (
      endpoint: "token" | "revoke",
      ms: number,
      act: () => Promise<unknown>,
    ) => {
      const hold = application.provider.hold(endpoint);
      const answer = act();
      await hold.arrived;
      application.clock.advance(ms);
      hold.release();
      await answer;
    };
    const user = application.user();
    const target = await user.approve();
    await slowly("token", 100, () => user.get(target));
    application.clock.advance(3600_000);
    await slowly("token", 200, () => user.get("/idpauth/session"));
    application.clock.advance(3600_000);
    application.provider.fault("token", { kind: "reset", before: false, times: 1 });
    await slowly("token", 300, () => user.get("/idpauth/session"));
    await slowly("revoke", 400, () => user.get("/idpauth/logout/"));
    expect(durations).toEqual({ login: 100, refresh: 200, outage: 300, logout: 400 });
  });

  it("and the option log get every line of a flood", async () => {
    application = await startApplication();
    const lines: unknown[] = [];
    listen("idpauth:log", (message) => lines.push(message));
    application.log.length = 0;
    for (let time = 0; time < 50; time += 1)
      await application.user().get("/idpauth/login-callback?state=x&code=y");
    expect(application.log.map(({ code }) => code)).toEqual(Array(50).fill("callback_failed"));
    expect(lines).toEqual(application.log);
  });

  it("a log that is switched off is still heard there", async () => {
    application = await startApplication();
    const silent = application.another({ log: false });
    const lines: unknown[] = [];
    listen("idpauth:log", (message) => lines.push(message));
    await silent.guard(application.user().request("/reports"));
    expect(lines).toContainEqual(expect.objectContaining({ code: "blocked" }));
  });
});
