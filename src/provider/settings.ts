import type { EpochSeconds } from "../core/time.js";

/** The settings that the provider looks at; names and meanings as in the table of settings. */
export interface ProviderSettings {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly issuer: string;
  readonly scope: readonly string[];
  readonly scopeIsDefault: boolean;
  readonly debug: boolean;
  /** Seconds. */
  readonly httpTimeout: number;
  readonly tokenEndpointAuthMethod: "client_secret_post" | "client_secret_basic";
  readonly loginPrompt: string | null;
  readonly trustedAudiences: readonly string[];
  readonly sessionAutoRefresh: boolean;
}

/** Seconds by which the provider's clock and ours may differ. */
export const CLOCK_TOLERANCE: EpochSeconds = 5;
