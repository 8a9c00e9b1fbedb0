import { randomUUID } from "node:crypto";
import { epochSeconds, type Clock, type EpochSeconds } from "../clock.js";
import type { AddressSettings } from "../http/own-origin.js";
import { credentialsToDict } from "../record/credentials.js";
import type { IdInfo } from "../record/identity.js";
import type { JsonObject } from "../record/json.js";
import { stateOfSignIn } from "../record/pending-logins.js";
import { RECORD_VERSION, type ClientIdentity, type SessionRecord } from "../record/record.js";
import { withoutUndefined } from "../record/without-undefined.js";
import type { BundledSessions } from "./bundled-sessions.js";
import type { SessionForTests } from "./session-for-tests.js";

export interface SessionForTestsParts {
  readonly sessions: BundledSessions;
  readonly client: ClientIdentity;
  readonly clientSecret: string;
  readonly scope: readonly string[];
  readonly baseUrl: AddressSettings["baseUrl"];
  readonly allowedTenants: readonly string[] | "any" | null;
  /**
   * The issuer with `{tenantid}` in place of the tenant. Undefined: the provider has one issuer.
   */
  readonly issuerTemplate: string | undefined;
  readonly stampsActivity: boolean;
  readonly clock: Clock;
  /** Checks the application's data. @throws TypeError */
  readonly checkedData: (data: unknown) => JsonObject;
}

/** Stores a signed-in session. @returns the Set-Cookie values for the browser */
export async function createSessionForTests(
  asked: SessionForTests,
  parts: SessionForTestsParts,
): Promise<readonly string[]> {
  const { sessions, baseUrl } = parts;
  const { secure = isHttps(baseUrl) } = asked;
  const record = signedInRecord(asked, parts);
  const session = sessions.open(undefined, secure);
  await session.begin(() => record);
  return session.setCookies;
}

/** Over https, unless BASE_URL says otherwise. Of several origins, each must. */
function isHttps(baseUrl: AddressSettings["baseUrl"]): boolean {
  if (baseUrl === null) return false;
  const origins = typeof baseUrl === "string" ? [baseUrl] : (baseUrl.list ?? []);
  return origins.every((origin) => origin.startsWith("https:"));
}

function signedInRecord(asked: SessionForTests, parts: SessionForTestsParts): SessionRecord {
  const { client, stampsActivity } = parts;
  const now = epochSeconds(parts.clock);
  const { tokens = {}, signedInAt = now, data } = asked;
  const idInfo = claimsForTests(asked, parts, now);
  return {
    credentials: credentialsToDict({
      token: tokens.token ?? `access-token-for-tests-${randomUUID()}`,
      refreshToken: tokens.refresh_token,
      tokenUri: `${client.issuer.replace(/\/$/, "")}/token`,
      clientId: client.clientId,
      clientSecret: parts.clientSecret,
      scopes: [...parts.scope],
    }),
    id_info: idInfo,
    idp_login_at: signedInAt,
    ...withoutUndefined({ idp_last_active: stampsActivity ? now : undefined }),
    idp_state: {
      v: RECORD_VERSION,
      issuer: client.issuer,
      ...stateOfSignIn(idInfo),
      ...withoutUndefined({ data: data === undefined ? undefined : parts.checkedData(data) }),
    },
  };
}

function claimsForTests(
  { claims, authTime, acr }: SessionForTests,
  parts: SessionForTestsParts,
  now: EpochSeconds,
): IdInfo {
  const { clientId } = parts.client;
  return {
    ...issuerClaims(claims, parts),
    aud: clientId,
    azp: clientId,
    sub: `test-${randomUUID()}`,
    iat: now,
    exp: now + 3600,
    ...withoutUndefined({ auth_time: authTime, acr }),
    ...claims,
  };
}

/** The tenant of a user whose claims name none, if every tenant is allowed. */
const ANY_TENANT = "00000000-0000-4000-8000-000000000000";

/**
 * With several tenants, the issuer is that of the user's tenant: `tid` of the claims, or the first
 * allowed one.
 */
function issuerClaims(
  claims: SessionForTests["claims"],
  parts: SessionForTestsParts,
): Record<string, unknown> {
  const { client, allowedTenants, issuerTemplate } = parts;
  if (issuerTemplate === undefined) return { iss: client.issuer };
  const tid =
    claims?.["tid"] ?? (Array.isArray(allowedTenants) ? (allowedTenants[0] as string) : ANY_TENANT);
  return { iss: issuerTemplate.replace("{tenantid}", typeof tid === "string" ? tid : ""), tid };
}
