import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Configuration } from "oidc-provider";
import { DemoConfigurationError } from "./configuration.js";
import { html, page } from "./html.js";
import {
  endSessionsOf,
  fetchFromThisMachine,
  isFromAnotherSite,
  logoutAddresses,
  sessionsPage,
  showLogoutPage,
  showSignedOutPage,
  type SessionSource,
} from "./provider-logout.js";
import { picture, type Person } from "./people.js";
import { closable, isTaken, listen } from "./server.js";
import type { DemoState } from "./state.js";
import { STYLE } from "./style.js";

export interface EmbeddedProviderOptions {
  /** 0: that of the last start, else any free one. Loopback only. */
  readonly port: number;
  readonly state: DemoState;
  readonly redirectUris: readonly string[];
  readonly tokenEndpointAuthMethod: "client_secret_post" | "client_secret_basic";
  /** How long an ID token is good for, in seconds. */
  readonly idTokenSeconds: number;
  /** Who can sign in. */
  readonly people: readonly Person[];
  /** If there are several providers: which one it is. */
  readonly named?: { readonly key: string; readonly name: string };
}

export interface EmbeddedProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Undefined: there is one provider. */
  readonly name: string | undefined;
  /**
   * Its address is another one than at the last start, so it is another issuer to every session of
   * that time.
   */
  readonly hasMoved: boolean;
  close(): Promise<void>;
}

/**
 * A standard OpenID provider on a port of its own, with a few people to sign in as by a click. For
 * trying things out only.
 */
export async function startEmbeddedProvider(
  options: EmbeddedProviderOptions,
): Promise<EmbeddedProvider> {
  const server = createServer();
  const close = closable(server);
  const { state } = options;
  const issuer = await listenAgain(server, options.port, state.providerPort);
  const port = Number(new URL(issuer).port);
  const hasMoved = state.providerPort !== undefined && state.providerPort !== port;
  state.rememberProviderPort(port);
  const client = { id: "idpauth-demo", secret: state.secrets.clientSecret };
  const OidcProvider = await quietly(async () => (await import("oidc-provider")).Provider);
  const provider = new OidcProvider(issuer, configuration(issuer, client, options));
  const standard = provider.callback();

  server.on("request", (request, response) => {
    forgetWhoWasHere(request);
    ownPages({ provider, ...options }, request, response).then(
      (answered) => {
        if (!answered) void standard(request, response);
      },
      () => answerPage(response, 400, "This sign-in has ended"),
    );
  });
  return {
    issuer,
    clientId: client.id,
    clientSecret: client.secret,
    name: options.named?.name,
    hasMoved,
    close,
  };
}

/** On the port that is asked for, else on that of the last start, else on any. */
async function listenAgain(server: Server, wanted: number, last = 0): Promise<string> {
  try {
    return await listen(server, wanted === 0 ? last : wanted);
  } catch (error) {
    if (!isTaken(error)) throw error;
    if (wanted === 0) return listen(server, 0);
    throw new DemoConfigurationError(
      `The embedded provider's port cannot be used: ${error.message}. Set DEMO_PROVIDER_PORT to another one.`,
      { cause: error },
    );
  }
}

/**
 * The module warns on Node 20, while it is loaded, that it prefers 22. The little that the demo
 * needs of it runs on both.
 */
async function quietly<Result>(load: () => Promise<Result>): Promise<Result> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await load();
  } finally {
    console.warn = warn;
  }
}

function configuration(
  issuer: string,
  client: { id: string; secret: string },
  options: EmbeddedProviderOptions,
): Configuration {
  const { issued, secrets } = options.state;
  return {
    adapter: issued,
    clients: [
      {
        client_id: client.id,
        client_secret: client.secret,
        client_name: "the idpauth demo",
        redirect_uris: [...options.redirectUris],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: options.tokenEndpointAuthMethod,
        // Every ID token says when its user authenticated, so that the first visit of /transfer
        // needs one sign-in.
        require_auth_time: true,
        ...logoutAddresses(options.redirectUris),
      },
    ],
    jwks: { keys: [secrets.signingKey] },
    // Browsers share cookies among the ports of a hostname.
    cookies: {
      keys: [secrets.cookieKey],
      ...(options.named && { names: { session: `_session-${options.named.key}` } }),
    },
    claims: {
      openid: ["sub", "signed_in_at"],
      email: ["email", "email_verified"],
      profile: ["name", "picture", "groups"],
    },
    scopes: ["openid", "offline_access", "email", "profile"],
    // The ID token itself carries email, name, picture and groups, as Google's carries the first
    // three.
    conformIdTokenClaims: false,
    // The userinfo endpoint says when the user signed in, because the access tokens are opaque, and
    // the orders API needs the time.
    extraTokenClaims: ({ oidc: { entities } }) => ({
      signed_in_at: (entities.AuthorizationCode ?? entities.RefreshToken)?.authTime,
    }),
    findAccount(_ctx, id, token) {
      const person = options.people.find((one) => one.id === id);
      const extra = token !== undefined && "extra" in token ? token.extra : undefined;
      return person && { accountId: id, claims: () => ({ ...claims(issuer, person), ...extra }) };
    },
    interactions: { url: (_ctx, interaction) => `/sign-in/${interaction.uid}` },
    pkce: { required: () => true },
    // Each refresh token works once; a second use ends the whole grant (RFC 9700 section 4.14.2).
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: showLogoutPage,
        postLogoutSuccessSource: showSignedOutPage,
      },
      backchannelLogout: { enabled: true },
      revocation: {
        enabled: true,
        allowedPolicy: (_ctx, asking, token) => token.clientId === asking.clientId,
      },
    },
    ttl: {
      IdToken: options.idTokenSeconds,
      AccessToken: 3600,
      RefreshToken: 14 * 24 * 3600,
      Grant: 14 * 24 * 3600,
      Interaction: 3600,
      Session: 3600,
    },
    fetch: fetchFromThisMachine,
    renderError(ctx, out) {
      ctx.type = "html";
      ctx.body = messagePage(
        "The provider cannot go on",
        `${out.error}${out.error_description === undefined ? "" : `: ${out.error_description}`}`,
      );
    },
  };
}

function claims(issuer: string, person: Person) {
  return {
    sub: person.id,
    email: person.email,
    email_verified: person.email_verified,
    name: person.name,
    groups: person.groups,
    picture: `${issuer}/pictures/${person.id}.svg`,
  };
}

/**
 * Removes the provider's session cookie from the request, so that every sign-in asks for the person
 * again. Only the logout needs the cookie.
 */
function forgetWhoWasHere(request: IncomingMessage): void {
  if (request.url?.startsWith("/session/end") === true) return;
  const cookies = request.headers.cookie
    ?.split("; ")
    .filter((cookie) => !cookie.startsWith("_session"));
  if (cookies !== undefined) request.headers.cookie = cookies.join("; ");
}

type OwnPages = SessionSource & Pick<EmbeddedProviderOptions, "named">;

/**
 * Serves the stylesheet, the pictures, the list of sessions and the page that asks for the person.
 * Returns false for any other address.
 */
async function ownPages(
  source: OwnPages,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { provider, people } = source;
  const [, first = "", second = "", third] = (request.url ?? "").split(/[/?]/);
  const wanted = `${request.method ?? ""} /${first}`;
  if (wanted === "GET /demo.css") {
    answer(response, 200, "text/css; charset=utf-8", STYLE);
    return true;
  }
  if (wanted === "GET /favicon.ico") {
    answer(response, 204, "image/x-icon", "");
    return true;
  }
  if (wanted === "GET /") {
    answer(response, 200, "text/html; charset=utf-8", sessionsPage(source));
    return true;
  }
  if (wanted === "POST /end") {
    if (isFromAnotherSite(request))
      answer(
        response,
        403,
        "text/html; charset=utf-8",
        messagePage("This form came from another site"),
      );
    else
      answer(
        response,
        200,
        "text/html; charset=utf-8",
        sessionsPage(source, await endSessionsOf(second, source)),
      );
    return true;
  }
  const pictured = people.find((person) => second === `${person.id}.svg`);
  if (wanted === "GET /pictures" && pictured !== undefined) {
    answer(response, 200, "image/svg+xml; charset=utf-8", picture(pictured));
    return true;
  }
  if (wanted === "GET /sign-in") {
    const { uid } = await provider.interactionDetails(request, response);
    answer(response, 200, "text/html; charset=utf-8", choicePage(uid, source));
    return true;
  }
  if (wanted === "POST /sign-in") {
    await finish(source, request, response, third);
    return true;
  }
  return false;
}

/** The click on a person is the login and the consent at once; anything else is "no". */
async function finish(
  { provider, people }: OwnPages,
  request: IncomingMessage,
  response: ServerResponse,
  choice: string | undefined,
): Promise<void> {
  const person = people.find(({ id }) => id === choice);
  if (person === undefined) {
    const refusal = { error: "access_denied", error_description: "The visitor cancelled." };
    await provider.interactionFinished(request, response, refusal);
    return;
  }
  const { params } = await provider.interactionDetails(request, response);
  const grant = new provider.Grant({ accountId: person.id, clientId: String(params["client_id"]) });
  grant.addOIDCScope(String(params["scope"]));
  const result = { login: { accountId: person.id }, consent: { grantId: await grant.save() } };
  await provider.interactionFinished(request, response, result);
}

function choicePage(uid: string, { people, named }: OwnPages): string {
  const choices = people.map(
    (person) =>
      html`<li>
        <form method="post" action="/sign-in/${uid}/${person.id}">
          <button class="person">
            <img src="/pictures/${person.id}.svg" alt="" width="48" height="48" />
            <span
              ><span class="name">${person.name}</span
              ><span class="mail">${person.email}</span></span
            >
          </button>
        </form>
      </li>`,
  );
  const body = html`<h1>Who is signing in?</h1>
    <p>
      This is
      ${named === undefined ? "the demo's own identity provider" : `the demo's provider “${named.name}”`}.
      Choose a person; there is no password.
    </p>
    <ul class="people">
      ${choices}
    </ul>
    <form method="post" action="/sign-in/${uid}/cancel">
      <button class="quiet">Cancel</button>
    </form>`;
  return page("Sign in to the idpauth demo", body);
}

function messagePage(title: string, text?: string): string {
  const body = html`<h1>${title}</h1>
    ${text === undefined ? [] : html`<p>${text}</p>`}
    <p>Go back to the application and sign in again.</p>`;
  return page(title, body);
}

function answerPage(response: ServerResponse, status: number, title: string): void {
  if (response.headersSent) response.destroy();
  else answer(response, status, "text/html; charset=utf-8", messagePage(title));
}

function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    "Content-Type": type,
    "Cache-Control": type.startsWith("text/html") ? "no-store" : "max-age=3600",
    // No form-action here: browsers apply it to the redirect that leads back to the application,
    // too.
    "Content-Security-Policy":
      "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
  });
  response.end(body);
}
