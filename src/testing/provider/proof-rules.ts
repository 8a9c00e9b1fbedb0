import type { ProofRules } from "./dpop-proofs.js";
import type { ProviderSettings } from "./test-provider-settings.js";

/** Returns the rules in a provider's settings. */
export function proofRules(settings: ProviderSettings): ProofRules {
  return {
    algorithms: settings.dpopSigningAlgs,
    seconds: settings.dpopProofSeconds,
    nonce: settings.dpopNonce,
    nonceSeconds: settings.dpopNonceSeconds,
  };
}
