import { EventHub } from "../../src/events/event-hub.js";
import type { LogEntry } from "../../src/events/log.js";
import type { Provider } from "../../src/ports/provider.js";
import type { SignIn, SpentRefresh } from "../../src/record/credentials.js";
import type { IdInfo } from "../../src/record/identity.js";
import type { SessionRecord } from "../../src/record/record.js";
import { createOpenIdProvider } from "../../src/provider/openid-provider.js";
import type { ProviderSettings } from "../../src/config/setting-table.js";
import {
  startTestProvider,
  type TestProvider,
  type TestProviderOptions,
} from "../../src/testing/provider/test-provider.js";
import { TestClock } from "../../src/testing/test-clock.js";

export const REDIRECT_URI = "http://127.0.0.1:3000/idpauth/login-callback";
export const VERIFIER = "v".repeat(43);
export const NONCE = "the-nonce";
/** The key of a session whose tokens are refreshed. */
export const SESSION = "session-1";

/** A client of a test provider; both live by one clock that stands still. */
export interface Rig {
  readonly idp: TestProvider;
  readonly clock: TestClock;
  readonly provider: Provider;
  readonly logged: LogEntry[];
  settingsWith(changes: Partial<ProviderSettings>, fetchBy?: typeof fetch): Provider;
  /** A browser's way to a code. */
  code(provider?: Provider): Promise<string>;
  exchange(provider?: Provider): Promise<SignIn>;
  refresh(refreshToken: string, session?: string): Promise<SpentRefresh>;
  verify(spent: SpentRefresh, signedIn: SignIn, provider?: Provider): Promise<IdInfo>;
  /** Refresh and verification, as the refresher does them. */
  renew(signedIn: SignIn): Promise<IdInfo>;
}

export async function startRig(options: TestProviderOptions = {}): Promise<Rig> {
  const clock = new TestClock();
  return rigAround(await startTestProvider({ clock, ...options }), clock);
}

/**
 * The same test provider as if it had just been started, and a client that knows nothing of it.
 * Making keys is slow.
 */
export function renewed({ idp, clock }: Rig, settings: TestProvider["settings"]): Rig {
  Object.assign(idp.settings, settings);
  idp.clearFaults();
  idp.jwks.reset();
  idp.mutateIdToken =
    idp.tokenResponse =
    idp.authorizationResponse =
    idp.discoveryDocument =
    idp.userinfoResponse =
      undefined;
  idp.requests.length = 0;
  idp.signedIn.clear();
  return rigAround(idp, clock);
}

function rigAround(idp: TestProvider, clock: TestClock): Rig {
  const logged: LogEntry[] = [];
  const settingsWith = (changes: Partial<ProviderSettings>, fetchBy?: typeof fetch) =>
    createOpenIdProvider({
      settings: {
        clientId: idp.clientId,
        clientSecret: idp.clientSecret,
        privateKey: null,
        certificate: null,
        clientCertificate: null,
        clientCertificateKey: null,
        appleTeamId: null,
        appleKeyId: null,
        clientAssertionAudience: null,
        requestAuthTime: null,
        issuer: idp.issuer,
        discoveryUrl: null,
        scope: ["openid", "email", "profile"],
        scopeIsDefault: true,
        debug: false,
        httpTimeout: 5,
        refreshConcurrency: 20,
        tokenEndpointAuthMethod: "client_secret_post",
        loginPrompt: null,
        logoutAtProvider: false,
        backchannelLogout: false,
        frontchannelLogout: false,
        authorizationParams: {},
        trustedAudiences: [],
        idTokenSignedResponseAlg: null,
        responseMode: "query",
        signedRequests: "when-required",
        dpop: false,
        fapi: null,
        sessionAutoRefresh: true,
        pushedRequests: "when-required",
        providerMetadata: {},
        refreshWithoutIdToken: "userinfo",
        userinfo: "when-needed",
        allowedTenants: null,
        clockTolerance: 5,
        ...changes,
      },
      clock,
      events: new EventHub((entry) => logged.push(entry), clock),
      random: () => 1,
      ...(fetchBy !== undefined && { fetch: fetchBy }),
    });
  const provider = settingsWith({});
  const never = new AbortController().signal;
  const rig: Rig = {
    idp,
    clock,
    provider,
    logged,
    settingsWith,
    async code(by = provider) {
      const { url } = await by.authorizationUrl({
        redirectUri: REDIRECT_URI,
        state: "s",
        nonce: NONCE,
        verifier: VERIFIER,
      });
      return new URL(await idp.signInCode(url)).searchParams.get("code") ?? "";
    },
    exchange: async (by = provider) =>
      by.exchange({
        code: await rig.code(by),
        redirectUri: REDIRECT_URI,
        nonce: NONCE,
        verifier: VERIFIER,
      }),
    refresh: (refreshToken, session = SESSION) =>
      provider.refresh({ refreshToken, session, signal: never }),
    async verify(spent, signedIn, by = provider) {
      const request = {
        refreshToken: signedIn.credentials.refresh_token ?? "",
        session: SESSION,
        signal: never,
      };
      return (await by.verifyRefreshed(spent, recordOf(signedIn), request)).idInfo;
    },
    async renew(signedIn) {
      return rig.verify(await rig.refresh(signedIn.credentials.refresh_token ?? ""), signedIn);
    },
  };
  return rig;
}

/** The record that a sign-in leaves. */
export function recordOf({
  credentials,
  idInfo,
  userinfoClaims,
  receivedAt,
}: SignIn): SessionRecord {
  return {
    credentials,
    id_info: idInfo,
    idp_state: { v: 1, userinfo_claims: userinfoClaims, tokens_received_at: receivedAt },
  };
}

/** What a rejected call says: kind and reason. */
export async function rejection(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    const { name, reason, message } = error as { name: string; reason?: string; message: string };
    return `${name} ${reason ?? message}`;
  }
  return "no rejection";
}

export const refused = (reason: string) => `ProviderRefusedError ${reason}`;
export const unavailable = (reason: string) => `ProviderUnavailableError ${reason}`;
