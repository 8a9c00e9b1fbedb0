// Only for the time in which both libraries are mounted.
import express from "express";

// #region both
/** Mount it after express-openid-connect, and before your routes. */
export function useBothSessions(auth) {
  const both = express.Router();

  both.use(async (req, res, next) => {
    try {
      const session = await auth.getSession(req);
      if (session !== null) {
        req.appSession = undefined; // deletes the old session, if this browser has one
        req.oidc = await oidcOf(auth, req, session);
      }
      res.locals.data = session?.data ?? req.appSession;
      if (process.env.SIGN_IN_WITH === "idpauth")
        res.oidc.login = ({ returnTo = req.method === "GET" ? req.originalUrl : "/" } = {}) =>
          res.redirect(auth.loginUrl(req, { returnTo }));
      next();
    } catch (error) {
      next(error);
    }
  });

  both.get("/login", (req, res) => res.oidc.login({ returnTo: "/" }));

  both.get("/logout", async (req, res, next) => {
    try {
      if ((await auth.getSession(req)) === null) await res.oidc.logout();
      else res.redirect("/idpauth/logout/");
    } catch (error) {
      next(error);
    }
  });

  return both;
}

/** The parts of `req.oidc` that routes read, from a session of idpauth. */
async function oidcOf(auth, req, { claims }) {
  const credentials = await auth.getCredentials(req);
  const accessToken = {
    access_token: credentials?.token,
    token_type: "Bearer",
    isExpired: () => true, // so that routes call refresh, which needs the provider only if it must
    refresh: async () => ({ ...accessToken, access_token: await auth.getAccessToken(req) }),
  };
  return { isAuthenticated: () => true, user: claims, idTokenClaims: claims, accessToken };
}
// #endregion

// #region forward
const ownAddress = `http://localhost:${process.env.PORT ?? 3000}`;

/** Passes a logout token on to idpauth, and then to express-openid-connect. */
export const forwardLogoutToken = [
  express.urlencoded({ extended: false }),
  async (req, res, next) => {
    try {
      const body = new URLSearchParams({ logout_token: req.body?.logout_token ?? "" });
      const url = `${ownAddress}/idpauth/backchannel-logout`;
      const response = await fetch(url, { method: "POST", body });
      if (response.ok) next();
      else res.status(response.status).send(await response.text());
    } catch (error) {
      next(error);
    }
  },
];
// #endregion
