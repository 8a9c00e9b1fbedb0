// The application during the migration. New sign-ins use idpauth, and sessions of
// express-openid-connect continue.
// #region mount
import express from "express";
import oidc from "express-openid-connect";
import { idpAuth } from "idpauth/express";
import { sqliteStore } from "idpauth/sqlite";
import { forwardLogoutToken } from "./forward-logout-token.mjs";
import { useBothSessions } from "./old-sessions.mjs";
// #endregion
import { listen } from "./listen.mjs";
import { logoutEntries } from "./logout-entries.mjs";
import { ordersUrl } from "./orders-api.mjs";
import { accountPage, adminPage, homePage, ordersPage } from "./pages.mjs";
import { userIdOf } from "./users.mjs";

// #region mount

const { auth: oldAuth, claimIncludes, requiresAuth } = oidc;
const app = express();

const auth = idpAuth({
  store: sqliteStore("sessions.db"),
  sessionIdleTimeout: 24 * 60 * 60, // as rollingDuration
  sessionMaxAge: 7 * 24 * 60 * 60, // as absoluteDuration
  authFinalRedirectUrl: "/",
  authLogoutRedirectUrl: "/",
  logoutAtProvider: true, // as idpLogout
  backchannelLogout: true,
  apis: { orders: { url: ordersUrl } },
  onSignIn: ({ claims }) => ({ data: { userId: userIdOf(claims) } }), // as afterCallback
});
app.post("/backchannel-logout", forwardLogoutToken); // before both
auth.mount(app);
app.use(
  oldAuth({
    authRequired: false,
    idpLogout: true,
    authorizationParams: {
      response_type: "code",
      scope: "openid profile email offline_access",
    },
    backchannelLogout: { store: logoutEntries },
    afterCallback: (req, res, session) => ({
      ...session,
      userId: userIdOf(req.oidc.idTokenClaims),
    }),
    routes: { login: false, logout: false }, // new
  }),
);
app.use(useBothSessions(auth));
app.get("/login", (req, res) => res.oidc.login({ returnTo: "/" }));
app.get("/logout", (req, res) => res.oidc.logout());
// #endregion

app.get("/", (req, res) => {
  res.send(homePage(req.oidc.user));
});

// #region unmoved
app.get("/account", requiresAuth(), (req, res) => {
  res.send(accountPage(req.oidc.user, res.locals.data)); // was req.appSession
});

app.post("/theme", requiresAuth(), async (req, res) => {
  await res.locals.updateData((data) => ({ ...data, theme: "dark" })); // was req.appSession.theme = "dark"
  res.redirect("/account");
});
// #endregion

app.get("/admin", claimIncludes("groups", "admin"), (req, res) => {
  res.send(adminPage(req.oidc.user));
});

// A route that was moved.
app.get("/orders", auth.idpRequired, async (req, res) => {
  const response = await auth.fetchApi(req, "orders", "items");
  if (response.ok) res.send(ordersPage(await response.json()));
  else res.status(502).send("The orders API isn't available.");
});

app.use(auth.errorHandler);

listen(app, auth);
