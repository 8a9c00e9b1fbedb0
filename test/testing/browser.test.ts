import { createServer } from "node:http";
import express from "express";
import { afterEach, beforeEach, expect, it } from "vitest";
import { idpAuth } from "../../src/adapters/express/express.js";
import {
  browser,
  signedInAs,
  startTestProvider,
  type TestProvider,
} from "../../src/testing/index.js";

let provider: TestProvider;
beforeEach(async () => {
  provider = await startTestProvider({
    people: [{ email: "ada@example.com" }, { email: "grace@example.com" }],
  });
});
afterEach(async () => {
  await provider.stop();
});

function createApp(): express.Express {
  const app = express();
  const auth = idpAuth({ env: provider.env, log: false });
  auth.mount(app);
  app.get("/reports", auth.idpRequired, async (req, res) =>
    res.json((await auth.requireSession(req)).user),
  );
  return app;
}

it("a browser is signed out until it follows the guard to the provider and back", async () => {
  const user = await browser(createApp());
  expect([user.cookie, (await user.get("/reports")).status]).toEqual(["", 401]);
  const page = await user.follow("/reports?month=10");
  expect([page.url.href, page.status, page.json().email]).toEqual([
    `${user.origin}/reports?month=10`,
    200,
    "ada@example.com",
  ]);
  expect(user.cookie).toMatch(/^idpauth=/);
  await user.close();
});

it("follows with a session's cookie that has ended, to a new one, and keeps it from the provider", async () => {
  const app = express();
  const auth = idpAuth({ env: provider.env, log: false, clock: provider.clock });
  auth.mount(app);
  app.get("/reports", auth.idpRequired, async (req, res) =>
    res.json((await auth.requireSession(req)).user),
  );
  app.get("/old", (_req, res) => res.redirect("/reports"));
  const user = await browser(app);
  const cookie = await signedInAs(auth, { email: "joan@example.com" });
  const live = await user.follow("/old", { headers: { cookie } });
  expect([live.status, live.json().email]).toEqual([200, "joan@example.com"]);

  provider.clock.advance(3_600_000);
  const ended = await user.follow("/reports", { headers: { cookie } });
  expect([ended.status, ended.json().email]).toEqual([200, "ada@example.com"]);
  expect(
    provider
      .requestsTo("authorize")
      .map(({ headers }) => headers.cookie?.includes(cookie) ?? false),
  ).toEqual([false]);
  await user.close();
});

it("plays a browser behind a proxy that ends TLS", async () => {
  const app = createServer((request, response) =>
    response.end([request.headers["x-forwarded-proto"], request.headers.host].join(" ")),
  );
  const user = await browser(app, { origin: "https://app.example" });
  expect((await user.get("/")).text).toBe("https app.example");
});

it("reaches a server that listens on ::1 alone, by number and by name", async (context) => {
  const server = createServer((_request, response) => response.end("here"));
  const isListening = new Promise<boolean>((resolve) => {
    server.once("listening", () => resolve(true)).once("error", () => resolve(false));
  });
  server.listen(0, "::1");
  if (!(await isListening)) context.skip("this machine has no IPv6");
  const user = await browser(server);
  expect([user.origin.startsWith("http://[::1]:"), (await user.get("/")).text]).toEqual([
    true,
    "here",
  ]);
  server.close();
});
