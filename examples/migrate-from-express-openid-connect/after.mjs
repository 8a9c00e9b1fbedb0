// The application after the migration, with idpauth alone.
import express from "express";
import { hasClaim } from "idpauth";
import { idpAuth } from "idpauth/express";
import { sqliteStore } from "idpauth/sqlite";
import { clearOldCookies } from "./old-cookies.mjs";
import { listen } from "./listen.mjs";
import { ordersUrl } from "./orders-api.mjs";
import { accountPage, adminPage, homePage, ordersPage } from "./pages.mjs";
import { userIdOf } from "./users.mjs";

const app = express();

const auth = idpAuth({
  store: sqliteStore("sessions.db"),
  sessionIdleTimeout: 24 * 60 * 60,
  sessionMaxAge: 7 * 24 * 60 * 60,
  authFinalRedirectUrl: "/",
  authLogoutRedirectUrl: "/",
  logoutAtProvider: true,
  backchannelLogout: true,
  apis: { orders: { url: ordersUrl } },
  onSignIn: ({ claims }) => ({ data: { userId: userIdOf(claims) } }),
});
// #region addresses
auth.mount(app);
app.use(clearOldCookies);

// Users have bookmarked these addresses, and other pages link to them.
app.get("/login", (req, res) => {
  res.redirect(auth.loginUrl(req, { returnTo: "/" }));
});
app.get("/logout", (req, res) => {
  res.redirect("/idpauth/logout/");
});
// #endregion

app.get("/", async (req, res) => {
  const session = await auth.getSession(req);
  res.send(homePage(session?.claims));
});

app.get("/account", auth.idpRequired, async (req, res) => {
  const { claims, data } = await auth.requireSession(req);
  res.send(accountPage(claims, data));
});

app.post("/theme", auth.idpRequired, async (req, res) => {
  await auth.updateData(req, (data) => ({ ...data, theme: "dark" }));
  res.redirect("/account");
});

app.get("/orders", auth.idpRequired, async (req, res) => {
  const response = await auth.fetchApi(req, "orders", "items");
  if (response.ok) res.send(ordersPage(await response.json()));
  else res.status(502).send("The orders API isn't available.");
});

const admin = auth.idpRequiredWith({ allow: hasClaim("groups", "admin") });
app.get("/admin", admin, async (req, res) => {
  const { claims } = await auth.requireSession(req);
  res.send(adminPage(claims));
});

app.use(auth.errorHandler);

listen(app, auth);
