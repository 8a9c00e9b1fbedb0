/**
 * The name of the method that waits for refreshes and revocations, for tests. `settled` of
 * `idpauth/testing` calls it. It is registered, so that several copies of this package share it.
 */
export const SETTLED: unique symbol = Symbol.for("idpauth.settled");
