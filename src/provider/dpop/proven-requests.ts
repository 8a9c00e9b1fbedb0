/** The proofs in requests to a provider: oauth4webapi makes them, idpauth keeps the nonces. */
import { DPoP, modifyAssertion, type DPoPHandle } from "oauth4webapi";
import { epochSeconds, type Clock } from "../../clock.js";
import { isDpopNonce, type DpopBinding } from "../../record/dpop.js";
import { withoutUndefined } from "../../record/without-undefined.js";
import { keyPairOf } from "./dpop-keys.js";
import { DpopNonces } from "./dpop-nonces.js";

/** A request with a proof. */
export interface ProvenRequest {
  /** Adds the proof. */
  readonly handle: DPoPHandle;
  /** The session's key, and the newest nonce of the endpoint's origin. */
  binding(): DpopBinding;
  /**
   * Keeps the nonce of a refusal for the repetition. Other requests don't get it meanwhile, because
   * some servers accept a nonce only once.
   * @returns whether it is another one than the request had, so that a repetition may succeed
   */
  demanded(headers: Headers): boolean;
  /** Keeps the nonce of the last response for other requests. */
  received(headers: Headers): void;
}

/** The requests of one client with proofs. */
export interface ProvenRequests {
  /** @param binding of the session; its nonce is used if this process doesn't know a newer one */
  create(endpoint: string, binding: DpopBinding): Promise<ProvenRequest>;
}

export function createProvenRequests(clock: Clock): ProvenRequests {
  // Shared by all sessions, because a server issues a nonce to the client, and a process that
  // knows none would have every refresh refused once.
  const nonces = new DpopNonces();
  return {
    async create(endpoint, { key, nonce: stored }) {
      const { origin } = new URL(endpoint);
      let sent: string | undefined;
      let demanded: string | undefined;
      const handle = DPoP({}, await keyPairOf(key), {
        [modifyAssertion](_header, payload) {
          sent = demanded ?? nonces.of(origin) ?? stored;
          Object.assign(payload, { iat: epochSeconds(clock) }, withoutUndefined({ nonce: sent }));
        },
      });
      return {
        handle,
        binding: () => ({ key, ...withoutUndefined({ nonce: nonces.of(origin) ?? stored }) }),
        demanded(headers) {
          const nonce = headers.get("dpop-nonce");
          if (!isDpopNonce(nonce) || nonce === sent) return false;
          demanded = nonce;
          return true;
        },
        received: (headers) => void nonces.keep(origin, headers.get("dpop-nonce") ?? demanded),
      };
    },
  };
}
