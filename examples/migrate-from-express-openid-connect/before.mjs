// The application before the migration, with express-openid-connect.
import express from "express";
import oidc from "express-openid-connect";
import { logoutEntries } from "./logout-entries.mjs";
import { ordersUrl } from "./orders-api.mjs";
import { accountPage, adminPage, homePage, ordersPage } from "./pages.mjs";
import { userIdOf } from "./users.mjs";
import { listen } from "./listen.mjs";

const { auth, claimIncludes, requiresAuth } = oidc;
const app = express();

// #region before
app.use(
  auth({
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
  }),
);

app.get("/", (req, res) => {
  res.send(homePage(req.oidc.user));
});

app.get("/account", requiresAuth(), (req, res) => {
  res.send(accountPage(req.oidc.user, req.appSession));
});

app.post("/theme", requiresAuth(), (req, res) => {
  req.appSession.theme = "dark";
  res.redirect("/account");
});

app.get("/orders", requiresAuth(), async (req, res) => {
  let { access_token, isExpired, refresh } = req.oidc.accessToken;
  if (isExpired()) ({ access_token } = await refresh());
  const response = await fetch(`${ordersUrl}items`, {
    headers: { Authorization: `Bearer ${access_token}` },
  });
  if (response.ok) res.send(ordersPage(await response.json()));
  else res.status(502).send("The orders API isn't available.");
});

app.get("/admin", claimIncludes("groups", "admin"), (req, res) => {
  res.send(adminPage(req.oidc.user));
});
// #endregion

listen(app);
