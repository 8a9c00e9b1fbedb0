/** Mount it after express-openid-connect, and before your routes. */
export function useBothSessions(auth) {
  return async (req, res, next) => {
    try {
      const session = await auth.getSession(req);
      if (session !== null) {
        req.appSession = undefined; // deletes the old session, if this browser has one
        req.oidc = await oidcOf(auth, req, session);
        res.oidc.logout = () => res.redirect("/idpauth/logout/");
      }
      res.locals.data = session?.data ?? req.appSession;
      // Replaces assignments to `req.appSession`.
      res.locals.updateData = async (change) => {
        const changed =
          session === null
            ? Object.assign(req.appSession, change(req.appSession))
            : await auth.updateData(req, change);
        res.locals.data = changed ?? {}; // null: the user has signed out in the meantime
      };
      // A user with an idpauth session switches accounts at idpauth, which wins over the old session.
      if (session !== null || process.env.SIGN_IN_WITH === "idpauth")
        res.oidc.login = ({ returnTo, authorizationParams: params } = {}) =>
          res.redirect(auth.loginUrl(req, { returnTo: returnTo ?? pageOf(req), params }));
      next();
    } catch (error) {
      next(error);
    }
  };
}

function pageOf(req) {
  return req.method === "GET" ? req.originalUrl : "/";
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
