import { privateKeys } from "../../config/client-key-kinds.js";
import { isLoopback } from "../../http/loopback.js";
import type { Jwk } from "../../index.js";
import { ProofCheck } from "../../testing/provider/dpop-proofs.js";
import { TENANTS_PATH } from "../../testing/provider/entra-tenants.js";
import { proofRules } from "../../testing/provider/proof-rules.js";
import { PushedRequests } from "../../testing/provider/pushed-requests.js";
import {
  defaultSettings,
  type ProviderSettings,
} from "../../testing/provider/test-provider-settings.js";
import type {
  ProviderHooks,
  ProviderState,
  Refusal,
} from "../../testing/provider/test-provider-state.js";
import type { ProviderOptions } from "./provider-usage.js";
import type { KeptProvider } from "./state-file.js";

/** A provider of the command. */
export interface DevelopmentProvider extends ProviderState {
  /** Undefined: the only provider. */
  readonly key: string | undefined;
  /** The issuer's path, before those of the endpoints. */
  readonly path: string;
  /** The application's origin, which redirects may lead to; undefined: only this machine. */
  readonly baseUrl: string | undefined;
  /** Whether the user chooses what the application may have. */
  readonly consent: boolean;
  /** The client's private key, for the application's settings; undefined: it has none of ours. */
  readonly clientKey: string | undefined;
  /** The files of the client's certificate and its key; undefined: it has none. */
  readonly clientFiles: ClientFiles | undefined;
  readonly fapi: boolean;
}

/** The names of files, absolute. */
export interface ClientFiles {
  readonly cert: string;
  readonly key: string;
}

interface Surroundings {
  readonly clientFiles: ClientFiles | undefined;
  /** Scheme, hostname and port of all providers. */
  readonly origin: string;
  readonly baseUrl: string | undefined;
  /** The keys in the file of `--client-jwks`. */
  readonly clientJwks: readonly Jwk[] | undefined;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Tells the operator why a request was refused. */
  noteRefusal(refusal: Refusal): void;
}

export function developmentProvider(
  options: ProviderOptions,
  kept: KeptProvider,
  { origin, baseUrl, clientJwks, clientFiles, now, noteRefusal }: Surroundings,
): DevelopmentProvider {
  const { key, people, consent } = options;
  const path = pathOf(options);
  const issuer = origin + path;
  const clientKey = options.client === "key" ? kept.clientKey : undefined;
  // The key of a certificate can also sign requests.
  const isOwn = options.client === "key" || options.client === "certificate";
  const own = isOwn ? privateKeys.fromText(kept.clientKey) : undefined;
  const settings = settingsOf(
    options,
    kept,
    own?.flatMap(({ publicJwk }) => publicJwk ?? []) ?? clientJwks,
  );
  kept.keys.algorithm = () => settings.signingAlg;
  return {
    key,
    path,
    baseUrl,
    consent,
    clientKey,
    clientFiles,
    fapi: options.fapi,
    issuer,
    base: issuer,
    mtlsBase: undefined,
    settings,
    proofs: new ProofCheck(() => proofRules(settings), now),
    hooks: NO_HOOKS,
    keys: kept.keys,
    grants: kept.grants,
    usedAssertions: new Set(),
    appleUsers: new Set(),
    pushed: new PushedRequests(),
    people,
    sessions: kept.sessions,
    person: people[0] ?? {},
    now,
    noteViolation() {},
    noteRefusal,
  };
}

function settingsOf(
  options: ProviderOptions,
  kept: KeptProvider,
  clientJwks: readonly Jwk[] | undefined,
): ProviderSettings {
  return {
    ...defaultSettings(),
    clientId: clientIdOf(options),
    clientSecret: kept.clientSecret,
    clientJwks,
    redirectUris: options.redirectUris,
    backchannelLogoutUri: options.backchannelLogoutUri,
    pushedRequests: options.pushedRequests,
    requirePushedRequests: options.requirePushedRequests,
    // Long enough to choose a person.
    pushedRequestSeconds: 600,
    accessTokens: options.accessTokens,
    idTokenSeconds: options.tokenSeconds,
    accessTokenSeconds: options.tokenSeconds,
    // A user who does not allow offline access gives no refresh token.
    issueRefreshToken: options.consent ? "offline_access" : true,
    tenant: options.tenant,
    ...assuranceOf(options),
  };
}

function assuranceOf(options: ProviderOptions): Partial<ProviderSettings> {
  const { client, dpop, dpopNonce, mtls, fapi } = options;
  return {
    ...(dpop && { dpop: "required", dpopNonce }),
    ...(mtls && { certificateBoundTokens: "required" }),
    ...(client === "certificate" && {
      tlsClientAuth: { names: { subjectDn: `CN=${clientIdOf(options)}` } },
    }),
    ...(fapi && {
      signingAlg: "PS256",
      signedRequests: "supported",
      signedResponses: "supported",
    }),
  };
}

/** Returns the client's ID, which its certificate names, too. */
export function clientIdOf({ key }: ProviderOptions): string {
  return key === undefined ? "idpauth-dev" : `idpauth-dev-${key}`;
}

function pathOf({ key, tenant }: ProviderOptions): string {
  if (tenant !== undefined) return TENANTS_PATH;
  return key === undefined ? "" : `/${key}`;
}

const NO_HOOKS: ProviderHooks = {
  mutateIdToken: undefined,
  tokenResponse: undefined,
  authorizationResponse: undefined,
  mutateResponseJwt: undefined,
  discoveryDocument: undefined,
  userinfoResponse: undefined,
};

/** Whether the browser may be sent to an address of the application. */
export function isOfApplication(
  { protocol, hostname, origin }: URL,
  { baseUrl }: DevelopmentProvider,
): boolean {
  return /^https?:$/.test(protocol) && (isLoopback(hostname) || origin === baseUrl);
}

/** The addresses that {@link isOfApplication} allows, in words. */
export function placesOf({ baseUrl }: DevelopmentProvider): string {
  return baseUrl === undefined
    ? "addresses on this machine"
    : `addresses on this machine or at ${baseUrl}`;
}
