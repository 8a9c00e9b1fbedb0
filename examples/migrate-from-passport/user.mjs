import { findUser } from "./users.mjs";

/** Sets `req.user` from idpauth. Without a session of idpauth, it stays as Passport has set it. */
export const setUser = (auth) => async (req, res, next) => {
  try {
    const session = await auth.getSession(req);
    if (session === null) return next();
    req.user = findUser(session.data.userId);
    giveSessionTo(session.data.userId, req, next);
  } catch (error) {
    next(error);
  }
};

/** Makes the session of express-session this user's, and removes a different user's cart. */
function giveSessionTo(userId, req, next) {
  const { passport, cart } = req.session;
  if (req.session.userId === userId && passport === undefined) return next();
  const owner = passport?.user?.id ?? req.session.userId;
  // As Passport does when a user signs in. The new session is without Passport's user and tokens.
  req.session.regenerate((error) => {
    if (error) return next(error);
    req.session.userId = userId;
    if (owner === undefined || owner === userId) req.session.cart = cart;
    next();
  });
}
