/** What the client's key signs: assertions and request objects, within the same limits. */
import { epochSeconds, type Clock } from "../clock.js";
import { profileOf } from "../config/provider-profiles.js";
import type { SettingText } from "../config/setting-names.js";
import type { ProviderSettings } from "../config/setting-table.js";
import { profileAlgorithms } from "../config/signing-algorithms.js";
import { ProviderUnavailableError } from "../errors.js";
import { signingKey, type AssertionAlgorithm } from "../keys/client-keys.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { SIGNATURE_FAILED } from "./back-off.js";
import { createSignInSignatures } from "./sign-in-signatures.js";
import { signedJwt } from "./signed-jwt.js";

/** The preferred algorithms first. */
const PREFERRED: readonly AssertionAlgorithm[] = ["PS256", "ES256", "EdDSA", "RS256"];

/** The client whose key signs. */
export interface SigningClient {
  readonly settings: ProviderSettings;
  readonly clock: Clock;
  /** In [0, 1), for jitter; default `Math.random`. */
  readonly random?: () => number;
}

/** A JWT to sign. */
interface Draft {
  readonly typ: string;
  /** What the discovery document lists for this kind of JWT. Undefined: it lists nothing. */
  readonly accepted: readonly string[] | undefined;
  /** Returns what the JWT says. @param now epoch seconds, for its times */
  readonly claims: (now: number) => object;
  /** Of a refresh or a revocation. Undefined: a sign-in, which waits for other sign-ins. */
  readonly signal: AbortSignal | undefined;
  /** Returns the error if the provider accepts none of the key's algorithms. */
  readonly unacceptable: (message: SettingText) => ProviderUnavailableError;
}

export interface ClientSignatures {
  /**
   * Returns a JWT with the client's signature.
   *
   * @throws ProviderUnavailableError the key cannot sign now, or the provider accepts none of its
   *   algorithms
   */
  sign(draft: Draft): Promise<string>;
  /** @throws ProviderUnavailableError `backing_off`: no sign-in may sign now */
  assertReadyToSignIn(): void;
}

export function createClientSignatures({
  settings,
  clock,
  random = Math.random,
}: SigningClient): ClientSignatures {
  // Refreshes may use as many.
  const signIns = createSignInSignatures({ clock, random, limit: settings.refreshConcurrency });

  async function sign(draft: Draft): Promise<string> {
    const { typ, signal } = draft;
    const key = signingKey(settings.privateKey);
    if (key === undefined) throw new TypeError("There is no private key.");
    const header = {
      alg: acceptedAlgorithm(draft),
      typ,
      ...withoutUndefined({ kid: key.kid, "x5t#S256": settings.certificate?.thumbprint }),
    };
    const claims = draft.claims(Math.floor(epochSeconds(clock)));
    const release = signal === undefined ? await signIns.take() : undefined;
    const startedAt = clock.monotonic();
    try {
      const { httpTimeout } = settings;
      return await signedJwt(key, { header, claims }, { clock, httpTimeout, signal });
    } catch (error) {
      signIns.refused(startedAt);
      throw new ProviderUnavailableError(SIGNATURE_FAILED, { cause: error });
    } finally {
      release?.();
    }
  }

  function acceptedAlgorithm({ accepted, unacceptable }: Draft): AssertionAlgorithm {
    const usable = usableAlgorithms(settings) ?? [];
    const alg = assertionAlgorithm(usable, accepted, settings.issuer);
    if (alg !== undefined) return alg;
    throw unacceptable(
      ({ env }) =>
        `The provider doesn't accept any algorithm that the key of ${env("privateKey")} can sign with (${usable.join(", ")}). Use a key of another type.`,
    );
  }

  return { sign, assertReadyToSignIn: signIns.assertReady };
}

/** The algorithms with which the client's key may sign. Undefined: there is no key. */
export function usableAlgorithms(
  settings: Pick<ProviderSettings, "privateKey" | "fapi">,
): readonly AssertionAlgorithm[] | undefined {
  const key = signingKey(settings.privateKey);
  return key && profileAlgorithms(key.algorithms, settings);
}

/**
 * Returns the algorithm of a JWT that the client signs; undefined if the provider accepts none of
 * the key's. Pure.
 *
 * @param accepted what the discovery document lists
 */
export function assertionAlgorithm(
  ofKey: readonly AssertionAlgorithm[],
  accepted: readonly string[] | undefined,
  issuer: string,
): AssertionAlgorithm | undefined {
  const isListed = accepted !== undefined && accepted.length > 0;
  if (ofKey.length === 1 && !isListed) return ofKey[0];
  const known = isListed ? accepted : [profileOf(issuer).assertion.algorithm];
  return PREFERRED.find((alg) => ofKey.includes(alg) && known.includes(alg));
}
