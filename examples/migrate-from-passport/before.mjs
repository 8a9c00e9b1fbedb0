// The application before the migration, with Passport.
import express from "express";
import { listen } from "./listen.mjs";
import { ordersOf } from "./orders-api.mjs";
import { accountPage, homePage, ordersPage } from "./pages.mjs";
import passport, { finishSignIn, passportToken, startSignIn } from "./passport.mjs";
import { appSession } from "./session.mjs";

const app = express();

// #region before
app.use(appSession);
app.use(passport.session());

app.get("/login", startSignIn);
app.get("/login/callback", finishSignIn);
app.get("/logout", (req, res, next) => {
  req.logout((error) => (error ? next(error) : res.redirect("/")));
});

function signedIn(req, res, next) {
  if (req.isAuthenticated()) return next();
  req.session.returnTo = req.originalUrl;
  res.redirect("/login");
}

app.get("/", (req, res) => {
  res.send(homePage(req.user, req.session.cart));
});

app.post("/cart", (req, res) => {
  req.session.cart = [...(req.session.cart ?? []), "tea"];
  res.redirect("/");
});

app.get("/account", signedIn, (req, res) => {
  res.send(accountPage(req.user));
});

app.get("/orders", signedIn, async (req, res) => {
  res.send(ordersPage(await ordersOf(await passportToken(req))));
});
// #endregion

listen(app);
