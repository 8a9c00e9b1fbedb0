import { expect, it } from "vitest";
import { createIdpAuth } from "../../src/index.js";
import { memoryStore } from "../../src/stores/memory/memory-store.js";
import { startApplication } from "../support/application.js";

it("the framework's own sessions together with a store keep the application from starting", () => {
  const auth = createIdpAuth(
    { env: {}, session: "host", store: memoryStore() },
    { name: "plain", request: () => null as never },
  );
  expect(() => auth.start()).toThrow(/\bE009\b/);
});

it("[ASVS-16.5.4] a listener or a log that fails has no effect on requests", async () => {
  const fail = () => {
    throw new Error("the log failed");
  };
  const application = await startApplication({ log: fail });
  const { auth } = application;
  for (const event of ["login", "logout", "blocked", "failure"] as const) auth.on(event, fail);
  const user = application.user();
  expect((await auth.guard(user.request("/reports")))?.reply.status).toBe(401);
  expect((await user.get("/idpauth/login-callback?state=x&code=y")).status).toBe(400);
  expect((await user.signIn()).status).toBe(302);
  expect(await auth.guard(user.request("/reports"))).toBeUndefined();
  expect((await user.get("/idpauth/logout/?response=json")).status).toBe(200);
  await application.stop();
});
