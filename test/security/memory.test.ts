import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, expect, it } from "vitest";
import { memoryStore } from "../../src/stores/memory.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application } from "../support/application.js";

const PROBE = "/idpauth/session";
const BAR = 1_048_576;

let app: Application;

afterEach(() => app.stop());

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes in use after a collection. */
function heap(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed;
}

it("L4 1,000,000 probes: less than 1 MB more for each 100,000, once warm", { timeout: 60_000 }, async () => {
  app = await startApplication({ sessionIdleTimeout: 7_200 });
  const [member, stranger] = [app.visitor(), app.visitor()];
  await member.signIn();
  const round = async () => {
    for (let probe = 0; probe < 50_000; probe += 1) {
      await stranger.get(PROBE, { headers: { cookie: `idpauth=${String(probe).padStart(43, "A")}` } });
      if (probe % 1_000 === 0) app.clock.advance(1_000);
      await member.get(PROBE);
    }
    return heap();
  };
  const warm = await round();
  let last = warm;
  for (let more = 0; more < 9; more += 1) last = await round();
  expect((last - warm) / 9).toBeLessThan(BAR);
  expect(await member.isSignedIn()).toBe(true);
});

it("L4 100,000 logins that nobody finishes: what they took is given back when they lapse", { timeout: 60_000 }, async () => {
  const clock = new TestClock();
  app = await startApplication({ clock, store: memoryStore({ clock, maxSessions: 200_000 }) });
  const round = async () => {
    for (let login = 0; login < 50_000; login += 1) await app.visitor().get("/idpauth/login/");
    await clock.advanceAsync(700_000);
    app.log.length = 0;
    return heap();
  };
  const before = await round();
  expect((await round()) - before).toBeLessThan(BAR);
});
