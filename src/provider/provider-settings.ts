import type { Certificate, ClientKey } from "../keys/client-keys.js";
import type { AuthorizationParams } from "../config/parameter-kinds.js";
import type { Endpoints } from "../config/endpoints-kind.js";

/** The settings of the provider, with names and meanings of the table of settings. */
export interface ProviderSettings {
  readonly clientId: string;
  /** Empty with a private key. */
  readonly clientSecret: string;
  /** The first one signs. */
  readonly privateKey: readonly ClientKey[] | null;
  readonly certificate: Certificate | null;
  readonly clientAssertionAudience: "issuer" | "token_endpoint" | "endpoint" | null;
  readonly issuer: string;
  /** The address of the discovery document; null: the issuer's. */
  readonly discoveryUrl: string | null;
  /** Null: the provider has one issuer. */
  readonly allowedTenants: readonly string[] | "any" | null;
  readonly scope: readonly string[];
  readonly scopeIsDefault: boolean;
  readonly debug: boolean;
  /** Seconds. */
  readonly httpTimeout: number;
  readonly refreshConcurrency: number;
  readonly tokenEndpointAuthMethod:
    "client_secret_post" | "client_secret_basic" | "client_secret_basic_raw";
  /** Replace endpoints of the discovery document or add to them. */
  readonly providerMetadata: Endpoints;
  /** `always`: userinfo is called at every sign-in and every refresh, and must respond. */
  readonly userinfo: "when-needed" | "always";
  readonly refreshWithoutIdToken: "userinfo" | "refuse";
  /** Seconds by which the provider's clock and this machine's clock may differ. */
  readonly clockTolerance: number;
  readonly loginPrompt: string | null;
  readonly authorizationParams: AuthorizationParams;
  /** Whether logins are pushed (RFC 9126). */
  readonly pushedRequests: "when-required" | "always" | "never";
  readonly trustedAudiences: readonly string[];
  readonly sessionAutoRefresh: boolean;
  /** The name of a preset replaces the endpoint that the provider announces. */
  readonly logoutAtProvider: boolean | "auth0" | "cognito";
  readonly backchannelLogout: boolean;
  readonly frontchannelLogout: boolean;
  readonly allowUntypedLogoutTokens: boolean;
}
