// Where express-openid-connect keeps back-channel logouts. In production, this is a store such as
// connect-redis, so that all processes share it and a restart keeps it.
const entries = new Map();

export const logoutEntries = {
  get: (id, done) => done(null, entries.get(id)),
  set: (id, entry, done) => done(null, entries.set(id, entry)),
  destroy: (id, done) => done(null, entries.delete(id)),
};
