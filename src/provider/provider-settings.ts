import type { Endpoints } from "../config/setting-kinds.js";

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
  readonly tokenEndpointAuthMethod: "client_secret_post" | "client_secret_basic" | "client_secret_basic_raw";
  /** Override or complete the discovery document. */
  readonly providerMetadata: Endpoints;
  readonly refreshWithoutIdToken: "userinfo" | "refuse";
  /** Seconds by which the provider's clock and ours may differ. */
  readonly clockTolerance: number;
  readonly loginPrompt: string | null;
  readonly trustedAudiences: readonly string[];
  readonly sessionAutoRefresh: boolean;
}
