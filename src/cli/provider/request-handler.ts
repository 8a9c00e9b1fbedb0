import { isLoopback } from "../../http/loopback.js";
import { stylesheet } from "../../http/reply.js";
import {
  approve,
  readAuthorization,
  refuse,
  type Authorization,
} from "../../testing/provider/authorization-endpoint.js";
import { work } from "../../testing/provider/provider-endpoints.js";
import { violationsOf, type ReceivedRequest } from "../../testing/provider/received-requests.js";
import { errorReply, type ProviderReply } from "../../testing/provider/replies.js";
import type { ProviderState } from "../../testing/provider/test-provider-state.js";
import { endSession, endSessionsOf } from "./end-session.js";
import { choicePage, homePage, problemPage, showPage, toReply } from "./provider-pages.js";
import { providerStyle } from "./provider-style.js";

/** Returns the response to one request. */
export async function respond(
  request: ReceivedRequest,
  state: ProviderState,
): Promise<ProviderReply> {
  if (!isForThisMachine(request.headers.host))
    return showPage(
      403,
      problemPage(
        "This provider works only on this machine",
        "The address in the request belongs to another machine.",
      ),
    );
  if (request.endpoint === "authorize") return authorize(request, state);
  if (request.endpoint === "endSession") return endSession(request, state);
  if (request.endpoint === "unknown") return ownPage(request, state);
  const violations = violationsOf(request);
  return violations.length > 0
    ? errorReply("invalid_request", violations.join("; "))
    : work(request.endpoint, request, state);
}

/**
 * Whether the `Host` header names this machine. A web page could otherwise reach a loopback server
 * by its own hostname (DNS rebinding).
 */
function isForThisMachine(host: string | undefined): boolean {
  return (
    host !== undefined &&
    URL.canParse(`http://${host}`) &&
    isLoopback(new URL(`http://${host}`).hostname)
  );
}

/** OpenID Connect Core section 3.1.2; the person is chosen on a page. */
function authorize(request: ReceivedRequest, state: ProviderState): ProviderReply {
  if (request.method !== "GET" && request.method !== "POST")
    return errorReply("invalid_request", "authorize takes GET or POST", {
      status: 405,
      headers: { Allow: "GET, POST" },
    });
  const asked = readAuthorization(request, state);
  const problem = "unusable" in asked ? asked.unusable : redirectProblem(asked, state);
  if ("unusable" in asked || problem !== undefined)
    return showPage(400, unusablePage(request, state));
  const violations = violationsOf(request);
  if (violations.length > 0)
    return refuse(asked, { error: "invalid_request", description: violations.join("; ") }, state);
  if (asked.mistake !== undefined) return refuse(asked, asked.mistake, state);
  // Every sign-in asks for the person: the provider keeps no session of the browser.
  if ((request.query.get("prompt") ?? "").split(" ").includes("none"))
    return refuse(
      asked,
      { error: "login_required", description: "the user has to choose a person" },
      state,
    );
  return request.method === "GET" ? showPage(200, choiceFor(asked, state)) : decide(asked, state);
}

/** Without a list of redirect URIs, every one on this machine is accepted. */
function redirectProblem(
  { redirectUri }: Authorization,
  { settings }: ProviderState,
): string | undefined {
  const { protocol, hostname } = new URL(redirectUri);
  const isAllowed =
    settings.redirectUris !== undefined || (/^https?:$/.test(protocol) && isLoopback(hostname));
  return isAllowed ? undefined : "unknown redirect_uri";
}

function choiceFor({ request, redirectUri }: Authorization, { people }: ProviderState): string {
  const application = new URL(redirectUri).origin;
  return choicePage({
    people,
    hint: request.query.get("login_hint"),
    application,
    action: request.url,
  });
}

/** What the user chose. */
function decide(asked: Authorization, state: ProviderState): ProviderReply {
  const { params } = asked.request;
  if (isFromAnotherSite(asked.request))
    return showPage(
      403,
      problemPage(
        "This form came from another site",
        "Go back to the application and sign in again.",
      ),
    );
  if (params.has("cancel"))
    return refuse(asked, { error: "access_denied", description: "the user cancelled" }, state);
  const person = state.people.find((one) => one["sub"] === params.get("person"));
  if (person !== undefined) {
    const now = Math.floor(state.now() / 1000);
    state.sessions.signIn(String(person["sub"]), now);
    return approve(asked, { person, authTime: now }, state);
  }
  // The provider was restarted with other people while the page was open.
  return showPage(200, choiceFor(asked, state));
}

function isFromAnotherSite({ headers }: ReceivedRequest): boolean {
  const site = headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin";
}

async function ownPage(request: ReceivedRequest, state: ProviderState): Promise<ProviderReply> {
  const { method, url } = request;
  const path = url.split("?", 1)[0];
  if (method === "GET" && path === "/") return showPage(200, homePage(state));
  if (method === "POST" && path === "/end") {
    if (isFromAnotherSite(request))
      return showPage(
        403,
        problemPage("This form came from another site", "Open the provider's own page."),
      );
    return showPage(
      200,
      homePage(state, await endSessionsOf(request.params.get("person") ?? "", state)),
    );
  }
  if (method === "GET" && path === "/style.css") return toReply(stylesheet(await providerStyle()));
  if (method === "GET" && path === "/favicon.ico") return { status: 204, headers: {}, body: "" };
  return errorReply("not_found", "no endpoint at this path", { status: 404 });
}

function unusablePage({ query }: ReceivedRequest, { settings }: ProviderState): string {
  const client = query.get("client_id");
  const redirectUri = shown(query.get("redirect_uri"));
  if (client !== settings.clientId)
    return problemPage(
      "The client ID does not belong to this provider",
      `The application sent the client ID ${shown(client)}. Use the settings that this command prints: npx idpauth provider.`,
    );
  const remedy =
    settings.redirectUris === undefined
      ? "This provider accepts only addresses on this machine, such as http://localhost:3000/idpauth/login-callback. Correct BASE_URL, or start the provider with --redirect-uri."
      : "This provider accepts only the redirect URIs that you pass with --redirect-uri. Pass this one too, or correct BASE_URL.";
  return problemPage(
    "The application's redirect URI is not accepted",
    `The application sent the redirect URI ${redirectUri}. ${remedy}`,
  );
}

function shown(value: string | null): string {
  return value === null ? "none" : `"${value.length > 200 ? `${value.slice(0, 200)}…` : value}"`;
}
