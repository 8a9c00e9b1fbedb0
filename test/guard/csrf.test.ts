import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApplication, type Application } from "../support/application.js";

let application: Application;
beforeAll(async () => {
  application = await startApplication();
});
afterAll(() => application.stop());

const FOREIGN = { method: "POST", headers: { "sec-fetch-site": "cross-site" } };

describe("[CSRF-1] auth.csrf", () => {
  it("refuses a path below the mount path that is not an endpoint's; an endpoint passes and has its own rules", async () => {
    const user = application.user();
    const refused = await application.auth.csrf(user.request("/idpauth/items", FOREIGN));
    expect([refused?.status, JSON.parse(refused?.body ?? "")]).toMatchObject([
      403,
      { code: "cross_origin" },
    ]);
    expect(application.auth.csrf(user.request("/idpauth/logout/", FOREIGN))).toBeUndefined();
    expect((await user.get("/idpauth/logout/", FOREIGN)).status).toBe(405);
  });

  it("alone refuses a POST of another site: the endpoints and the guard let it pass", async () => {
    const user = application.user();
    await user.signIn();
    const request = user.request("/items", FOREIGN);
    expect(application.auth.handle(request)).toBeUndefined();
    expect(await application.auth.guard(request)).toBeUndefined();
    expect((await application.auth.csrf(request))?.status).toBe(403);
  });
});
