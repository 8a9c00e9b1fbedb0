import { readLogout, sessionsToEnd } from "../../testing/provider/end-session-endpoint.js";
import { endSessions } from "../../testing/provider/logout-tokens.js";
import { violationsOf, type ReceivedRequest } from "../../testing/provider/received-requests.js";
import { errorReply, redirectReply, type ProviderReply } from "../../testing/provider/replies.js";
import { textClaim } from "./choosable-people.js";
import { isOfApplication, placesOf, type DevelopmentProvider } from "./development-provider.js";
import { homePage, problemPage, showPage } from "./provider-pages.js";

const TITLE = "The provider cannot end the session";

/**
 * OpenID Connect RP-Initiated Logout 1.0 section 2. If the request names no user, you choose one on
 * the provider's page.
 */
export async function endSession(
  request: ReceivedRequest,
  state: DevelopmentProvider,
): Promise<ProviderReply> {
  if (request.method !== "GET" && request.method !== "POST")
    return errorReply("invalid_request", "endSession takes GET or POST", {
      status: 405,
      headers: { Allow: "GET, POST" },
    });
  const asked = readLogout(request, state);
  const [mistake] = "mistake" in asked ? [asked.mistake] : violationsOf(request);
  if ("mistake" in asked || mistake !== undefined)
    return showPage(
      400,
      problemPage(TITLE, `The application's request is wrong: ${mistake ?? ""}.`),
    );
  if (asked.returnTo !== undefined && !isAllowed(asked.returnTo, state))
    return showPage(400, problemPage(TITLE, remedy(state)));
  if (asked.hint === undefined && asked.user === null)
    return showPage(200, homePage([state], "The application did not say whose session to end."));
  const ended = sessionsToEnd(asked, state);
  // The redirect follows even if the application does not respond (OpenID Connect Back-Channel
  // Logout 1.0 section 2.5).
  await endSessions(ended, state).catch(() => undefined);
  if (asked.returnTo !== undefined) return redirectReply(asked.returnTo);
  return showPage(200, homePage([state], "The session at the provider has ended."));
}

/** With --redirect-uri, every address of those origins is accepted. */
function isAllowed(returnTo: string, state: DevelopmentProvider): boolean {
  const { redirectUris } = state.settings;
  const address = new URL(returnTo);
  return (
    redirectUris?.some((uri) => new URL(uri).origin === address.origin) ??
    isOfApplication(address, state)
  );
}

function remedy(state: DevelopmentProvider): string {
  const accepted =
    state.settings.redirectUris === undefined
      ? placesOf(state)
      : "addresses of the origins that you pass with --redirect-uri";
  return `The application sent a post_logout_redirect_uri that is not accepted. This provider accepts only ${accepted}.`;
}

/** Ends the sessions of a person. Returns the result in a sentence for the page. */
export async function endSessionsOf(sub: string, state: DevelopmentProvider): Promise<string> {
  const person = state.people.find((one) => one["sub"] === sub);
  const ended = state.sessions.find(sub);
  const name =
    (person && (textClaim(person, "name") ?? textClaim(person, "email"))) ?? "This person";
  if (ended.length === 0) return `${name} is not signed in at the provider.`;
  const did = `The session of ${name} at the provider has ended.`;
  try {
    const statuses = (await endSessions(ended, state)).map(({ status }) => status);
    return statuses.length === 0
      ? `${did} The provider did not send a logout token, because it was started without --backchannel-logout-uri.`
      : `${did} The application responded to the logout token with the status ${statuses.join(", ")}.`;
  } catch {
    return `${did} The application did not respond to the logout token. Check --backchannel-logout-uri.`;
  }
}
