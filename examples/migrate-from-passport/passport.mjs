// Everything about Passport but its routes. The stage "after" doesn't use this file.
import * as client from "openid-client";
import { Strategy } from "openid-client/passport";
import passport from "passport";
import { findUser, saveUser } from "./users.mjs";

const { BASE_URL, IDP_ISSUER, IDP_CLIENT_ID, IDP_CLIENT_SECRET } = process.env;
const config = await client.discovery(
  new URL(IDP_ISSUER),
  IDP_CLIENT_ID,
  IDP_CLIENT_SECRET,
  undefined,
  { execute: [client.allowInsecureRequests] }, // for the development provider, which has no https
);

passport.use(
  "openid",
  new Strategy(
    {
      config,
      scope: "openid email profile offline_access",
      callbackURL: `${BASE_URL}/login/callback`,
    },
    (tokens, verified) => {
      verified(null, { ...saveUser(tokens.claims()), tokens: tokensOf(tokens) });
    },
  ),
);
passport.serializeUser(({ id, tokens }, done) => done(null, { id, tokens }));
passport.deserializeUser(({ id }, done) => done(null, findUser(id) ?? false));

function tokensOf({ access_token, refresh_token, expires_in }) {
  return { access_token, refresh_token, expires_at: Date.now() + expires_in * 1000 };
}

/** The user's access token, refreshed if it has expired. */
export async function passportToken(req) {
  const { user } = req.session.passport;
  const { expires_at, refresh_token } = user.tokens;
  if (expires_at <= Date.now()) {
    const tokens = await client.refreshTokenGrant(config, refresh_token);
    user.tokens = tokensOf({ refresh_token, ...tokens });
  }
  return user.tokens.access_token;
}

export const startSignIn = passport.authenticate("openid");
export const finishSignIn = passport.authenticate("openid", {
  keepSessionInfo: true, // the cart, and `returnTo`
  successReturnToOrRedirect: "/",
  failureRedirect: "/",
});
export default passport;
