// The application after the migration, with idpauth alone. express-session keeps the cart.
import express from "express";
import { idpAuth } from "idpauth/express";
import { sqliteStore } from "idpauth/sqlite";
import { appSession } from "./session.mjs";
import { setUser } from "./user.mjs";
import { saveUser } from "./users.mjs";
import { listen } from "./listen.mjs";
import { ordersOf } from "./orders-api.mjs";
import { accountPage, homePage, ordersPage } from "./pages.mjs";

const app = express();
const auth = idpAuth({
  store: sqliteStore("idpauth.db"),
  sessionMaxAge: 8 * 60 * 60,
  authFinalRedirectUrl: "/",
  authLogoutRedirectUrl: "/",
  onSignIn: ({ claims }) => ({ data: { userId: saveUser(claims).id } }),
});
// #region mount
app.use(appSession);
app.get("/idpauth/logout", (req, res, next) => req.session.regenerate(next)); // empties the cart
auth.mount(app);
app.use(setUser(auth));

// Users have bookmarked these addresses.
app.get(["/login", "/login/callback"], (req, res) => {
  res.redirect(auth.loginUrl(req, { returnTo: "/" }));
});
app.get("/logout", (req, res) => {
  res.redirect("/idpauth/logout/");
});
// #endregion

app.get("/", (req, res) => {
  res.send(homePage(req.user, req.session.cart));
});

app.post("/cart", (req, res) => {
  req.session.cart = [...(req.session.cart ?? []), "tea"];
  res.redirect("/");
});

app.get("/account", auth.idpRequired, (req, res) => {
  res.send(accountPage(req.user));
});

app.get("/orders", auth.idpRequired, async (req, res) => {
  res.send(ordersPage(await ordersOf(await auth.getAccessToken(req))));
});

app.use(auth.errorHandler);

listen(app, auth);
