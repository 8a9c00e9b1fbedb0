/**
 * Writes the sign-ins, sign-outs and refused requests of users to the table `audit`, through a pool
 * of `pg`.
 */
export function auditIdpauth(/** @type {any} */ auth, /** @type {any} */ pool) {
  const write =
    (/** @type {string} */ action) =>
    (/** @type {any} */ { time, issuer, subject, during, reason }) =>
      pool.query(
        "insert into audit (at, action, issuer, subject, detail) values (to_timestamp($1 / 1000.0), $2, $3, $4, $5)",
        [
          time,
          during === undefined ? action : `${during} failed`,
          issuer ?? null,
          subject ?? null,
          reason ?? null,
        ],
      );
  auth.on("login", write("signed in"));
  auth.on("logout", write("signed out"));
  auth.on("ended", write("session ended"));
  auth.on("failure", write("failed"));
  const blocked = write("blocked");
  auth.on("blocked", (/** @type {any} */ event) =>
    event.subject === undefined ? undefined : blocked(event),
  );
}
