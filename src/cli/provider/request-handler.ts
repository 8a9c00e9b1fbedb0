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
import { consentPage, grantedScopes } from "./consent.js";
import { isOfApplication, placesOf, type DevelopmentProvider } from "./development-provider.js";
import { endSession, endSessionsOf } from "./end-session.js";
import { choicePage, homePage, problemPage, showPage, toReply } from "./provider-pages.js";
import { providerStyle } from "./provider-style.js";

/**
 * Returns the response to one request.
 *
 * @param state the provider that the path names
 * @param providers all of the command
 */
export async function respond(
  request: ReceivedRequest,
  state: DevelopmentProvider | undefined,
  providers: readonly DevelopmentProvider[],
): Promise<ProviderReply> {
  if (!isForThisMachine(request.headers.host))
    return showPage(
      403,
      problemPage(
        "This provider works only on this machine",
        "The address in the request belongs to another machine.",
      ),
    );
  if (state === undefined || request.endpoint === "unknown")
    return ownPage(request, state, providers);
  if (request.endpoint === "authorize") return authorize(request, state);
  if (request.endpoint === "endSession") return endSession(request, state);
  const violations = violationsOf(request);
  if (violations.length === 0) return work(request.endpoint, request, state);
  const refusal = { error: "invalid_request", reason: violations.join("; ") };
  state.noteRefusal({ endpoint: request.endpoint, ...refusal });
  return errorReply(refusal.error, refusal.reason);
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
async function authorize(
  request: ReceivedRequest,
  state: DevelopmentProvider,
): Promise<ProviderReply> {
  if (request.method !== "GET" && request.method !== "POST")
    return errorReply("invalid_request", "authorize takes GET or POST", {
      status: 405,
      headers: { Allow: "GET, POST" },
    });
  const asked = await readAuthorization(request, state);
  if ("unusable" in asked) return showUnusable(asked.unusable, request.query, state);
  if (!isAllowedRedirect(asked, state))
    return showUnusable("unknown redirect_uri", asked.request.query, state);
  const violations = violationsOf(request);
  if (violations.length > 0)
    return refuse(asked, { error: "invalid_request", description: violations.join("; ") }, state);
  if (asked.mistake !== undefined) return refuse(asked, asked.mistake, state);
  // Every sign-in asks for the person: the provider keeps no session of the browser.
  if ((asked.request.query.get("prompt") ?? "").split(" ").includes("none"))
    return refuse(
      asked,
      { error: "login_required", description: "the user has to choose a person" },
      state,
    );
  return request.method === "GET" ? showPage(200, choiceFor(asked, state)) : decide(asked, state);
}

/** The list of redirect URIs was compared before. */
function isAllowedRedirect({ redirectUri }: Authorization, state: DevelopmentProvider): boolean {
  return state.settings.redirectUris !== undefined || isOfApplication(new URL(redirectUri), state);
}

function choiceFor(
  { request, redirectUri }: Authorization,
  { key, people }: DevelopmentProvider,
): string {
  const application = new URL(redirectUri).origin;
  return choicePage({
    key,
    people,
    hint: request.query.get("login_hint"),
    application,
    action: request.url,
  });
}

/** What the user chose. */
async function decide(asked: Authorization, state: DevelopmentProvider): Promise<ProviderReply> {
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
  // The provider was restarted with other people while the page was open.
  if (person === undefined) return showPage(200, choiceFor(asked, state));
  if (state.consent) {
    if (!params.has("consent")) return showPage(200, consentPage(asked, person));
    if (params.get("consent") !== "allow")
      return refuse(asked, { error: "access_denied", description: "the user refused" }, state);
  }
  const authTime = Math.floor(state.now() / 1000);
  state.sessions.signIn(String(person["sub"]), authTime);
  const granted = state.consent ? { grantedScopes: grantedScopes(asked.request) } : {};
  return approve(asked, { person, authTime, ...granted }, state);
}

function isFromAnotherSite({ headers }: ReceivedRequest): boolean {
  const site = headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin";
}

async function ownPage(
  request: ReceivedRequest,
  state: DevelopmentProvider | undefined,
  providers: readonly DevelopmentProvider[],
): Promise<ProviderReply> {
  const { method, url } = request;
  const [path = ""] = url.split("?", 1);
  if (method === "POST" && state !== undefined && path === `${state.path}/end`)
    return end(request, state, providers);
  if (method === "GET" && (path === "/" || providers.some((one) => path === one.path)))
    return showPage(200, homePage(providers));
  if (method === "GET" && path === "/style.css") return toReply(stylesheet(await providerStyle()));
  if (method === "GET" && path === "/favicon.ico") return { status: 204, headers: {}, body: "" };
  return errorReply("not_found", "no endpoint at this path", { status: 404 });
}

async function end(
  request: ReceivedRequest,
  state: DevelopmentProvider,
  providers: readonly DevelopmentProvider[],
): Promise<ProviderReply> {
  if (isFromAnotherSite(request))
    return showPage(
      403,
      problemPage("This form came from another site", "Open the provider's own page."),
    );
  const notice = await endSessionsOf(request.params.get("person") ?? "", state);
  return showPage(200, homePage(providers, notice));
}

function showUnusable(
  reason: string,
  query: URLSearchParams,
  state: DevelopmentProvider,
): ProviderReply {
  state.noteRefusal({ endpoint: "authorize", error: "invalid_request", reason });
  return showPage(400, unusablePage(query, state));
}

function unusablePage(query: URLSearchParams, state: DevelopmentProvider): string {
  const { settings } = state;
  const client = query.get("client_id");
  const redirectUri = shown(query.get("redirect_uri"));
  if (client !== settings.clientId)
    return problemPage(
      "The client ID does not belong to this provider",
      `The application sent the client ID ${shown(client)}. Use the settings that this command prints: npx idpauth provider.`,
    );
  if (query.has("request_uri"))
    return problemPage(
      "The pushed login request has expired",
      "Each pushed request works once, within ten minutes. Go back to the application and sign in again.",
    );
  const remedy =
    settings.redirectUris === undefined
      ? `This provider accepts only ${placesOf(state)}, such as http://localhost:3000/idpauth/login-callback. Correct BASE_URL, or start the provider with --base-url or --redirect-uri.`
      : "This provider accepts only the redirect URIs that you pass with --redirect-uri. Pass this one too, or correct BASE_URL.";
  return problemPage(
    "The application's redirect URI is not accepted",
    `The application sent the redirect URI ${redirectUri}. ${remedy}`,
  );
}

function shown(value: string | null): string {
  return value === null ? "none" : `"${value.length > 200 ? `${value.slice(0, 200)}…` : value}"`;
}
