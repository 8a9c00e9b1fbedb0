import { expect } from "vitest";
import type { BrowserResponse, CookieBrowser } from "../../src/testing/browser/cookie-browser.js";
import type {
  LogoutResponse,
  LogoutTokenOptions,
} from "../../src/testing/provider/test-provider.js";
import type { ExpressApplication } from "../support/express-application.js";
import { expectSignedIn, signIn, userOf, type Stage, type StageOptions } from "./relying-party.js";

/** The suite adds a claim that every relying party must ignore. */
export const IGNORED_CLAIM = { ignored_claim: "Claims that are not understood must be ignored." };

/** Two browsers of one user in one session of the provider. The first one signs out. */
export interface LogoutStage {
  readonly application: ExpressApplication;
  readonly leaving: CookieBrowser;
  readonly other: CookieBrowser;
}

export async function startLogout(stage: Stage, options: StageOptions = {}): Promise<LogoutStage> {
  const application = await stage.start({ logoutAtProvider: true, ...options });
  application.provider.settings.postLogoutRedirectUris = [
    `${application.origin}/idpauth/logout-callback`,
  ];
  const { browser: leaving } = await expectSignedIn(application);
  const { browser: other } = await signIn(application);
  expect(await userOf(other)).not.toBeNull();
  return { application, leaving, other };
}

/**
 * Signs out up to the provider's response, and checks the request to the end session endpoint as
 * every module of the suite does.
 */
export async function endSession({
  application,
  leaving,
}: LogoutStage): Promise<{ response: BrowserResponse; state: string }> {
  const { provider, origin } = application;
  const logout = await leaving.get("/idpauth/logout/");
  expect(logout.status).toBe(302);
  const response = await leaving.get(logout.location ?? "");
  const [request, ...more] = provider.requestsTo("endSession");
  expect(more).toEqual([]);
  const { id_token_hint, post_logout_redirect_uri, client_id, state } = Object.fromEntries(
    request?.query ?? [],
  );
  expect(
    provider.issued.filter(({ kind }) => kind === "id_token").map(({ value }) => value),
  ).toContain(id_token_hint);
  expect([post_logout_redirect_uri, client_id]).toEqual([
    `${origin}/idpauth/logout-callback`,
    provider.clientId,
  ]);
  expect(state).toMatch(/^[\w-]{22,}$/);
  expect(await userOf(leaving)).toBeNull();
  return { response, state: state ?? "" };
}

/** Follows the provider's way back, and expects that it leads to the index page. */
export async function comeBack(
  { application, leaving }: LogoutStage,
  address: string | URL,
): Promise<void> {
  const back = await leaving.get(address);
  expect([back.status, back.location]).toEqual([302, "/idpauth/"]);
  expect(await userOf(leaving)).toBeNull();
  expect(application.log.filter(({ level }) => level === "error")).toEqual([]);
}

/** Sends a logout token to the application. */
export async function send(
  application: ExpressApplication,
  token: LogoutTokenOptions | string,
): Promise<LogoutResponse> {
  application.provider.settings.backchannelLogoutUri = `${application.origin}/idpauth/backchannel-logout`;
  const response = await application.provider.sendLogoutToken(token);
  expect(response.headers.get("cache-control")).toContain("no-store");
  return response;
}

/** Returns the options of a logout token of this application's provider. */
export type TokenOf = (application: ExpressApplication) => LogoutTokenOptions;

/**
 * Replays a back-channel module: during the logout at the provider, the provider sends a logout
 * token, which must be refused.
 */
export async function expectLogoutTokenRefused(
  stage: Stage,
  tokenOf: TokenOf,
  reason: string,
): Promise<string> {
  const logout = await startLogout(stage, { backchannelLogout: true });
  const { application, other } = logout;
  const { claims, ...others } = tokenOf(application);
  // Created before the session at the provider ends, as in the suite.
  const token = application.provider.logoutToken({
    ...others,
    claims: { ...IGNORED_CLAIM, ...claims },
  });
  const { response } = await endSession(logout);
  const { status, body } = await send(application, token);
  expect([status, JSON.parse(body)]).toMatchObject([400, { error: "invalid_request" }]);
  expect(
    application.log.map(({ message }) => message).filter((message) => message.includes(reason)),
  ).toHaveLength(1);
  expect(await userOf(other)).not.toBeNull();
  await comeBack(logout, response.location ?? "");
  return `400 with no-store, ${reason}; another session of the user goes on, and the browser comes back from the provider`;
}

/** Loads the frame of the provider's logout page in a browser that sends no cookies in frames. */
export async function expectFrameEndsSession(
  { application, leaving, other }: LogoutStage,
  address: string,
): Promise<void> {
  const frame = await application.browser().get(address, {
    headers: { "sec-fetch-dest": "iframe" },
  });
  expect([frame.status, frame.headers["x-frame-options"]]).toEqual([200, undefined]);
  expect(frame.headers["content-security-policy"]).toContain(
    `frame-ancestors ${new URL(application.provider.issuer).origin}`,
  );
  expect(frame.headers["cache-control"]).toContain("no-store");
  for (const browser of [leaving, other]) expect(await userOf(browser)).toBeNull();
}
