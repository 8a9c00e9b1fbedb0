import type { SessionRequest } from "../access/session-request.js";
import { epochSeconds } from "../clock.js";
import { variableOf } from "../config/provider-keys.js";
import { SETTINGS, type CommonSettings, type SettingName } from "../config/read-settings.js";
import { wantsPage } from "../http/accept.js";
import { jsonText, type Reply } from "../http/reply.js";
import { debugPage, type DebugSetting } from "../pages/debug-page.js";
import { userPayload } from "../record/identity.js";
import type { SessionRecord } from "../record/record.js";
import { judge, remaining } from "../record/session-policy.js";
import type { EndpointContext } from "./context.js";

/**
 * GET {mountPath}debug: session, policy, settings and findings, without secrets, as a page or as
 * JSON. The router has this path in debug mode only; otherwise the response is 404.
 */
export async function debug(
  { session, request }: SessionRequest,
  { settings, registrations, names, clock, findings, pages }: EndpointContext,
): Promise<Reply> {
  const record = await session.read();
  const now = epochSeconds(clock);
  const model = {
    session: record === undefined ? null : redacted(record, names),
    policy: {
      verdict: judge(record, settings, now),
      remaining: record === undefined ? null : remaining(record, settings, now),
      now,
    },
    settings: describeAll(registrations, settings),
    // W004 says that there might be no refresh token.
    checks:
      record?.credentials?.refresh_token === undefined
        ? findings
        : findings.filter(({ code }) => code !== "W004"),
  };
  if (wantsPage(request)) return debugPage(model, pages.publicPath);
  const byName = Object.fromEntries(model.settings.map(({ name, value }) => [name, value]));
  return jsonText(JSON.stringify({ ...model, settings: byName }, undefined, 2));
}

/**
 * All settings by environment name, each once, with those of each of several providers; secrets
 * only as present or absent.
 */
function describeAll(
  registrations: EndpointContext["registrations"],
  common: CommonSettings,
): DebugSetting[] {
  const names = Object.keys(SETTINGS) as SettingName[];
  const isOwn = (name: SettingName) =>
    common.providers !== null && SETTINGS[name].per !== undefined;
  const described = registrations.flatMap(({ key, settings }) =>
    names.map((name): DebugSetting => {
      const { env, secret, hidden, default: usual } = SETTINGS[name];
      const given = settings[name];
      const value = secret || (hidden && name !== "providers") ? presence(given) : given;
      return {
        name: key !== undefined && isOwn(name) ? variableOf(key, env) : env,
        value,
        isDefault: value === "absent" || JSON.stringify(given) === JSON.stringify(usual),
      };
    }),
  );
  return [...new Map(described.map((setting) => [setting.name, setting])).values()];
}

/**
 * Tokens, secrets and one-time values only as present or absent; the identity only as the user
 * payload.
 */
function redacted(record: SessionRecord, names: EndpointContext["names"]): object {
  const { credentials, idp_state: state } = record;
  return {
    [names.credentials]:
      credentials === undefined
        ? null
        : {
            token: presence(credentials.token),
            refresh_token: presence(credentials.refresh_token),
            token_uri: credentials.token_uri,
            client_id: credentials.client_id,
            client_secret: presence(credentials.client_secret),
            scopes: credentials.scopes,
          },
    id_info: record.id_info === undefined ? null : userPayload(record.id_info),
    [names.oauth_state]: presence(record.oauth_state),
    [names.final_redirect]: record.final_redirect ?? null,
    debug: record.debug ?? null,
    idp_login_at: record.idp_login_at ?? null,
    idp_last_active: record.idp_last_active ?? null,
    idp_state: {
      v: state.v,
      logins: state.logins?.length ?? 0,
      used: state.used?.length ?? 0,
      lease: presence(state.lease),
      refresh_rejected: state.refresh_rejected ?? false,
      access_token_expires_at: state.access_token_expires_at ?? null,
      issuer: state.issuer ?? null,
    },
  };
}

function presence(value: unknown): "present" | "absent" {
  return value === undefined ||
    value === null ||
    value === "" ||
    (Array.isArray(value) && value.length === 0)
    ? "absent"
    : "present";
}
