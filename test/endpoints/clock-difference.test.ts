import { afterEach, expect, it } from "vitest";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { startApplication, type Application } from "../support/application.js";

const MINUTE = 60_000;

let app: Application;
afterEach(() => app.stop());

/** Two processes over a store with a clock of its own, as Redis has it. */
async function start(ahead: number) {
  const clock = new TestClock();
  app = await startApplication({ store: memoryStore({ clock }), clock });
  const other = new TestClock();
  other.advance(clock.now() - other.now() + ahead);
  return app.another({ clock: other });
}

const lines = () => app.log.filter(({ code }) => code === "callback_failed");

it("a callback at a process whose clock is 15 minutes ahead is refused, and the log names the difference", async () => {
  const ahead = await start(15 * MINUTE);
  const user = app.user();
  const callback = await user.approve("/idpauth/login/");
  expect((await user.at(ahead).get(callback)).status).toBe(400);
  expect(lines()).toMatchObject([
    {
      message:
        "A sign-in couldn't be completed (state). This process's clock is at least 300 seconds ahead of the clock of another process or of the store. Synchronize the clocks, for example with NTP.",
      details: { reason: "state" },
    },
  ]);
  expect(JSON.stringify(lines())).not.toContain(
    new URL(callback, "http://app.example").searchParams.get("state"),
  );
});

it("a callback that comes too late names none", async () => {
  await start(0);
  const user = app.user();
  const callback = await user.approve("/idpauth/login/");
  // Another tab's login keeps the entry alive.
  app.clock.advance(9 * MINUTE);
  await user.get("/idpauth/login/");
  app.clock.advance(2 * MINUTE);
  expect((await user.at(app.auth).get(callback)).status).toBe(400);
  expect(lines().map(({ message }) => message)).toEqual([
    "A sign-in couldn't be completed (state).",
  ]);
});
