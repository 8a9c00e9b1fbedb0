const OLD = /^(?:appSession(?:\.\d+)?|_?auth_verification|skipSilentLogin)$/;

/** Deletes the cookies of express-openid-connect. Remove it when no browser has them any more. */
export function clearOldCookies(req, res, next) {
  for (const pair of req.headers.cookie?.split("; ") ?? []) {
    const name = pair.slice(0, pair.indexOf("="));
    if (OLD.test(name)) res.clearCookie(name); // with the domain and path of session.cookie, if set
  }
  next();
}
