import type { Session } from "../../../index.js";
import type { ApplicationAuth, ApplicationRoute } from "../adapter-under-test.js";

/** What all of them say of one request, those without side effects first. */
export interface Said {
  readonly isAuthenticated: boolean;
  readonly explanation: unknown;
  readonly record: Readonly<Record<string, unknown>> | null;
  readonly credentials: unknown;
  readonly user: unknown;
  readonly session: Session | null;
  readonly accessToken: string | null;
}

export async function askAll(auth: ApplicationAuth, raw: object): Promise<Said> {
  return {
    isAuthenticated: await auth.checkIdpAuthentication(raw),
    explanation: await auth.explainIdpAuthentication(raw),
    record: await auth.readSessionRecord(raw),
    credentials: await auth.getCredentials(raw),
    user: await auth.getUser(raw),
    session: await auth.getSession(raw),
    accessToken: await auth.getAccessToken(raw),
  };
}

/** Answers with {@link Said}. */
export const ASKS_ALL: ApplicationRoute = {
  kind: "json",
  method: "GET",
  path: "/all",
  answer: ([auth], raw) => askAll(auth as ApplicationAuth, raw),
};
