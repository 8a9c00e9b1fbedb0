/**
 * The names that `idpAuth` infers from its options, for the parameters that take one. Both are
 * `string` if they aren't known when the application compiles.
 */
export interface IdpAuthNames {
  /** The names in the option `apis`. */
  readonly api: string;
  /**
   * The keys in the option `providers`. Without that option, `IDP_PROVIDERS` lists the keys, so any
   * string is accepted and checked at startup.
   */
  readonly provider: string;
}
