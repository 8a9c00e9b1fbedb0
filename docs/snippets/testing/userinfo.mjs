import { signIn, startTestProvider } from "idpauth/testing";
import { expect } from "vitest";
import { createApp } from "./app.mjs";

// #region userinfo
const provider = await startTestProvider({
  userinfoOnly: ["groups"],
  person: { email: "ada@example.com", groups: ["admin"] },
});
const { app, auth } = createApp({
  env: provider.env,
  clock: provider.clock,
  userinfo: "always",
});
app.get("/groups", auth.idpRequired, async (req, res) =>
  res.json((await auth.requireSession(req)).claims.groups),
);
const user = await signIn(app);
expect((await user.get("/groups")).json()).toEqual(["admin"]);
await provider.stop();
// #endregion

await user.close();
