import { findUser } from "./users.mjs";

/** Sets `req.user` from idpauth. Without a session of idpauth, it stays as Passport has set it. */
export const setUser = (auth) => async (req, res, next) => {
  try {
    const session = await auth.getSession(req);
    if (session !== null) req.user = findUser(session.data.userId);
    giveSessionTo(session?.data.userId, req, next);
  } catch (error) {
    next(error);
  }
};

/**
 * Makes the session of express-session this user's, and removes a different user's cart. Undefined:
 * there's no session of idpauth. If there was one, and it has ended, its user's cart goes too.
 */
function giveSessionTo(userId, req, next) {
  const { passport, cart } = req.session;
  const passportId = passport?.user?.id;
  const owner = req.session.userId ?? passportId;
  if (userId === undefined && owner === passportId) return next();
  if (req.session.userId === userId && passport === undefined) return next();
  // As Passport does when a user signs in. A session of idpauth replaces Passport's user and tokens.
  req.session.regenerate((error) => {
    if (error) return next(error);
    if (userId === undefined) req.session.passport = passport;
    else req.session.userId = userId;
    if (owner === undefined || owner === userId) req.session.cart = cart;
    next();
  });
}
