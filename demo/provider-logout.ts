import type { IncomingMessage } from "node:http";
import type { ClientMetadata, Configuration, KoaContextWithOIDC, Provider } from "oidc-provider";
import { html, page } from "./html.js";
import type { Person } from "./people.js";
import type { DemoState } from "./state.js";

export interface SessionSource {
  readonly provider: Provider;
  readonly state: DemoState;
  readonly people: readonly Person[];
}

/** The end of a redirect URI, with the provider's key if there are several. */
const CALLBACK = /login-callback(\/[a-z]+)?$/;

/** Returns the application's addresses for logout, made from the redirect URIs of the sign-in. */
export function logoutAddresses(redirectUris: readonly string[]): Partial<ClientMetadata> {
  const local =
    redirectUris.find((uri) => new URL(uri).hostname === "127.0.0.1") ?? redirectUris[0];
  return {
    post_logout_redirect_uris: redirectUris.map((uri) => uri.replace(CALLBACK, "logout-callback")),
    ...(local !== undefined && {
      backchannel_logout_uri: local.replace(CALLBACK, "backchannel-logout$1"),
    }),
    // Every ID token then contains `sid`.
    backchannel_logout_session_required: true,
  };
}

/**
 * Sends a logout token. By default oidc-provider refuses to send requests to this machine, where
 * the application runs.
 */
export const fetchFromThisMachine: Configuration["fetch"] = (url, options) => {
  const { dispatcher: _guard, ...others } = options as RequestInit & { dispatcher?: unknown };
  return fetch(url, others);
};

/** A request from another site must not end a session. */
export function isFromAnotherSite({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  return site !== undefined && site !== "same-origin";
}

/** A client as oidc-provider implements it; its types lack this method. */
interface LogoutClient {
  backchannelLogout(sub: string, sid: string | undefined): Promise<void>;
}

/**
 * Ends a person's sessions at the provider and sends a logout token for each. Returns the result in
 * a sentence.
 */
export async function endSessionsOf(
  personId: string,
  { provider, state, people }: SessionSource,
): Promise<string> {
  const name = people.find(({ id }) => id === personId)?.name ?? "This person";
  const ended = state.sessions().filter(({ accountId }) => accountId === personId);
  const sent = ended.flatMap(({ authorizations = {} }) => Object.entries(authorizations));
  for (const { jti } of ended) await (await provider.Session.find(jti ?? ""))?.destroy();
  const results = await Promise.allSettled(
    sent.map(async ([clientId, { sid }]) => {
      const client = (await provider.Client.find(clientId)) as unknown as LogoutClient;
      await client.backchannelLogout(personId, sid);
    }),
  );
  const accepted = results.filter(({ status }) => status === "fulfilled").length;
  return `The provider has ended the session of ${name}. The application accepted ${accepted} of ${sent.length} logout tokens.`;
}

/**
 * The page at the provider's own address: who is signed in, with a button that ends the session.
 */
export function sessionsPage({ state, people }: SessionSource, notice?: string): string {
  const signedIn = new Set(state.sessions().map(({ accountId }) => accountId));
  const shown = people
    .filter(({ id }) => signedIn.has(id))
    .map(
      (person) =>
        html`<li>
          <form method="post" action="/end/${person.id}">
            <button class="person">
              <img src="/pictures/${person.id}.svg" alt="" width="48" height="48" />
              <span
                ><span class="name">${person.name}</span
                ><span class="mail">End the session</span></span
              >
            </button>
          </form>
        </li>`,
    );
  const body = html`<h1>Signed in at the provider</h1>
    ${notice === undefined ? [] : html`<p role="status">${notice}</p>`}
    <p>
      ${
        shown.length === 0
          ? "No person is signed in. Sign in to the demo first."
          : "Choose a person to end the session, as an administrator does. The provider then tells the demo."
      }
    </p>
    <ul class="people">
      ${shown}
    </ul>`;
  return page("The demo's identity provider", body);
}

/**
 * Asks whether to sign out at the provider too.
 * @param form the form that the buttons submit, as oidc-provider makes it
 */
export async function showLogoutPage(ctx: KoaContextWithOIDC, form: string): Promise<void> {
  const body = html`<h1>Sign out at the provider too?</h1>
    <p>You are signed out of the demo. You are still signed in at its identity provider.</p>
    <p class="actions">
      <button class="button" form="op.logoutForm" name="logout" value="yes">
        Sign out at the provider
      </button>
      <button class="quiet" form="op.logoutForm">Stay signed in</button>
    </p>`;
  ctx.body = page("Sign out", body).replace("</main>", `${form}</main>`);
}

export async function showSignedOutPage(ctx: KoaContextWithOIDC): Promise<void> {
  ctx.type = "html";
  ctx.body = page("Signed out", html`<h1>You are signed out at the provider</h1>`);
}
