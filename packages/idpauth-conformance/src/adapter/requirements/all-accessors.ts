import type { ClientState, Session } from "idpauth";
import type { ApplicationAuth, ApplicationRoute } from "../adapter-under-test.js";

/** The results of all accessors for one request, those without side effects first. */
export interface AccessorResults {
  readonly isAuthenticated: boolean;
  readonly explanation: unknown;
  readonly record: Readonly<Record<string, unknown>> | null;
  readonly credentials: unknown;
  readonly session: Session | null;
  readonly state: ClientState;
  readonly accessToken: string | null;
}

export async function callAllAccessors(
  auth: ApplicationAuth,
  raw: object,
): Promise<AccessorResults> {
  return {
    isAuthenticated: await auth.checkIdpAuthentication(raw),
    explanation: await auth.explainIdpAuthentication(raw),
    record: await auth.readSessionRecord(raw),
    credentials: await auth.getCredentials(raw),
    session: await auth.getSession(raw),
    state: await auth.clientState(raw),
    accessToken: await auth.getAccessToken(raw),
  };
}

/** A route that responds with {@link AccessorResults}. */
export const ALL_ACCESSORS_ROUTE: ApplicationRoute = {
  kind: "json",
  method: "GET",
  path: "/all",
  respond: ([auth], raw) => callAllAccessors(auth as ApplicationAuth, raw),
};
