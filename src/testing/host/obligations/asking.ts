import type { HostAuth, HostRoute } from "../host-under-test.js";

/** What all of them say of one request, those without side effects first. */
export interface Said {
  readonly isAuthenticated: boolean;
  readonly explanation: unknown;
  readonly session: Readonly<Record<string, unknown>> | null;
  readonly credentials: unknown;
  readonly user: unknown;
  readonly accessToken: string | null;
}

export async function askAll(auth: HostAuth, raw: object): Promise<Said> {
  return {
    isAuthenticated: await auth.checkIdpAuthentication(raw),
    explanation: await auth.explainIdpAuthentication(raw),
    session: await auth.getSession(raw),
    credentials: await auth.getCredentials(raw),
    user: await auth.getUser(raw),
    accessToken: await auth.getAccessToken(raw),
  };
}

/** Answers with {@link Said}. */
export const ASKS_ALL: HostRoute = { kind: "json", method: "GET", path: "/all", answer: ([auth], raw) => askAll(auth as HostAuth, raw) };
