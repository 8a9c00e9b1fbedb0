import { afterEach, expect, it } from "vitest";
import { startApplication, type Application } from "../support/application.js";
let app: Application;
afterEach(() => app.stop());
it("smoke", async () => {
  app = await startApplication();
  const v = app.visitor();
  const a = await v.signIn();
  console.log(a, v.cookies);
  console.log(await v.get("/idpauth/session?details=true"), app.log);
  console.log(await app.auth.getSession(v.request("/x")));
});
