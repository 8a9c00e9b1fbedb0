import { RunningClock } from "../running-clock.js";
import { TENANTS_PATH } from "./entra-tenants.js";
import { assertIssuerPath, assertOptions, checkedSettings, tlsOptions } from "./option-checks.js";
import { ADA } from "./people.js";
import { RunningProvider } from "./running-provider.js";
import { SigningKeys } from "./signing-keys.js";
import type { TestProvider, TestProviderOptions } from "./test-provider-api.js";
import { defaultSettings } from "./test-provider-settings.js";

export type { Fault, Hold, HoldOptions } from "./faults.js";
export type { Issued, RequestedTarget } from "./grants.js";
export type { LogoutResponse, LogoutTokenOptions } from "./logout-tokens.js";
export type { PersonClaims } from "./people.js";
export type { TestProvider, TestProviderOptions } from "./test-provider-api.js";
export type { ProviderSettings } from "./test-provider-settings.js";
export type {
  IdTokenDraft,
  MutatedIdToken,
  ProviderHooks,
  ResponseJwtDraft,
} from "./test-provider-state.js";
export type { Endpoint, ReceivedRequest } from "./received-requests.js";
export type { NonceDemand } from "./dpop-nonces.js";
export type {
  PresentedCertificate,
  RegisteredNames,
} from "../certificates/presented-certificate.js";
export { compactJws, type JsonPart, type JwksControls } from "./signing-keys.js";

/**
 * Starts an OpenID provider on a free port of 127.0.0.1. It shows no pages: the user `person` has
 * already agreed.
 *
 * @example
 * const provider = await startTestProvider();
 * const auth = idpAuth({ env: provider.env });
 * await provider.stop();
 */
export async function startTestProvider(options: TestProviderOptions = {}): Promise<TestProvider> {
  const { person, people = [], clock = new RunningClock(), tls, mtlsAliases, ...others } = options;
  const encryption = tlsOptions({
    ...(tls !== undefined && { tls }),
    ...(mtlsAliases !== undefined && { mtlsAliases }),
  });
  const { issuerPath = others.tenant === undefined ? "" : TENANTS_PATH, ...settings } = others;
  assertOptions(settings);
  assertIssuerPath(issuerPath);
  const provider = new RunningProvider({
    settings: checkedSettings({ ...defaultSettings(), ...settings }),
    person: person ?? people[0] ?? ADA,
    people,
    clock,
    keys: await SigningKeys.shared(),
    tls: encryption,
  });
  await provider.start(issuerPath);
  return provider;
}
