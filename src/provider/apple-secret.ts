import { epochSeconds, type Clock } from "../clock.js";
import type { ProviderSettings } from "../config/setting-table.js";
import { ProviderUnavailableError } from "../errors.js";
import { signingKey } from "../keys/client-keys.js";
import { SIGNATURE_FAILED } from "./back-off.js";
import { untilAborted } from "./http-to-provider.js";
import { signedJwt } from "./signed-jwt.js";

/** For which a secret is used, and for which it is valid. Apple allows 15,777,000 seconds. */
const USED_SECONDS = 3_600;
const VALID_SECONDS = 7_200;

/** Makes the client secrets of one client of Apple. */
export type AppleSecrets = (signal: AbortSignal | undefined) => Promise<string>;

/**
 * Apple's client secret is a JWT that the client signs with ES256:
 * https://developer.apple.com/documentation/accountorganizationaldatasharing/creating-a-client-secret.
 * It is made again each hour, one signature for all requests that wait for it. It throws
 * ProviderUnavailableError if the key cannot sign now.
 */
export function createAppleSecrets(settings: ProviderSettings, clock: Clock): AppleSecrets {
  const { appleTeamId, appleKeyId, clientId, issuer, httpTimeout } = settings;
  const key = signingKey(settings.privateKey);
  let newest: { readonly at: number; readonly secret: Promise<string> } | undefined;

  async function make(now: number): Promise<string> {
    if (key === undefined) throw new TypeError("There is no private key.");
    const header = { alg: "ES256", kid: appleKeyId } as const;
    const claims = {
      iss: appleTeamId,
      iat: now,
      exp: now + VALID_SECONDS,
      aud: issuer,
      sub: clientId,
    };
    // Shared: the end of one request must not end the signature that others wait for.
    return signedJwt(key, { header, claims }, { clock, httpTimeout, signal: undefined });
  }

  return async (signal) => {
    const now = Math.floor(epochSeconds(clock));
    // Also after the clock was set back.
    if (newest === undefined || now < newest.at || now >= newest.at + USED_SECONDS) {
      const made = { at: now, secret: make(now) };
      newest = made;
      // A failure is not kept.
      made.secret.catch(() => {
        if (newest === made) newest = undefined;
      });
    }
    const { secret } = newest;
    try {
      return await untilAborted(signal, () => secret);
    } catch (error) {
      throw new ProviderUnavailableError(SIGNATURE_FAILED, { cause: error });
    }
  };
}
