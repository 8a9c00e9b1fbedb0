import type { LogEntry } from "idpauth";
import { idpAuth } from "idpauth/express";

const HOUR = 3600;
const LONGEST_SESSION = 12 * HOUR;

/** The company's defaults, under the names that a service's environment uses. */
const DEFAULTS = {
  IDP_ISSUER: "https://login.example.com",
  SCOPE: "openid email profile offline_access",
  IDP_SESSION_MAX_AGE: String(8 * HOUR),
  IDP_SESSION_IDLE_TIMEOUT: String(HOUR),
  IDP_LOGOUT_AT_PROVIDER: "on",
  IDP_BACKCHANNEL_LOGOUT: "on",
};

/** Every service logs in the same form. */
function log(line: LogEntry) {
  console.error(JSON.stringify({ service: process.env["SERVICE_NAME"], ...line }));
}

/** `idpAuth` with the company's defaults. A service overrides them in its environment or in code. */
export const companyAuth: typeof idpAuth = (options = {}) => {
  const env = { ...DEFAULTS, ...process.env, ...options.env };
  const { sessionMaxAge = env.IDP_SESSION_MAX_AGE } = options;
  const seconds = Number(sessionMaxAge); // 0 if the service has unset the limit
  if (!(seconds > 0 && seconds <= LONGEST_SESSION))
    throw new Error(`Set a maximum age of a session up to ${LONGEST_SESSION} seconds.`);
  return idpAuth({ log, ...options, env });
};
