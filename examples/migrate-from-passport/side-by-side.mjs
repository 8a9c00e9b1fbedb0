// The application during the migration. New sign-ins use idpauth if SIGN_IN_WITH says so, and users
// who have signed in with Passport still are.
// #region mount
import express from "express";
import { idpAuth } from "idpauth/express";
import { sqliteStore } from "idpauth/sqlite";
import passport, { finishSignIn, passportToken, startSignIn } from "./passport.mjs";
import { appSession } from "./session.mjs";
import { setUser } from "./user.mjs";
import { saveUser } from "./users.mjs";
// #endregion
import { listen } from "./listen.mjs";
import { ordersOf } from "./orders-api.mjs";
import { accountPage, homePage, ordersPage } from "./pages.mjs";

// #region mount

const app = express();
const auth = idpAuth({
  store: sqliteStore("idpauth.db"),
  sessionMaxAge: 8 * 60 * 60, // as the cookie of express-session
  authFinalRedirectUrl: "/",
  authLogoutRedirectUrl: "/",
  onSignIn: ({ claims }) => ({ data: { userId: saveUser(claims).id } }), // as the strategy
});
app.use(appSession);
app.use(passport.session());
app.get("/idpauth/logout", (req, res, next) => req.logout(next)); // then idpauth's own logout
auth.mount(app);
app.use(setUser(auth));

const isMoving = process.env.SIGN_IN_WITH === "idpauth";
app.get("/login", (req, res, next) => {
  // A user with an idpauth session switches accounts at idpauth, which wins over Passport's.
  if (isMoving || auth.seenSession(req)) res.redirect(auth.loginUrl(req, { returnTo: "/" }));
  else startSignIn(req, res, next);
});
app.get("/login/callback", (req, res, next) => {
  if (auth.seenSession(req)) res.redirect("/login");
  else finishSignIn(req, res, next);
});
app.get("/logout", (req, res) => {
  res.redirect("/idpauth/logout/");
});

function signedIn(req, res, next) {
  if (req.isAuthenticated()) return next();
  if (isMoving) return auth.idpRequired(req, res, next);
  req.session.returnTo = req.originalUrl;
  res.redirect("/login");
}

function tokenOf(req) {
  return req.session.passport?.user ? passportToken(req) : auth.getAccessToken(req);
}
// #endregion

app.get("/", (req, res) => {
  res.send(homePage(req.user, req.session.cart));
});

app.post("/cart", (req, res) => {
  req.session.cart = [...(req.session.cart ?? []), "tea"];
  res.redirect("/");
});

app.get("/orders", signedIn, async (req, res) => {
  res.send(ordersPage(await ordersOf(await tokenOf(req))));
});

// A route that was moved.
app.get("/account", auth.idpRequired, (req, res) => {
  res.send(accountPage(req.user));
});

app.use(auth.errorHandler);

listen(app, auth);
