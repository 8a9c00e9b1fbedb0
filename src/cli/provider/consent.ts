import { html, PERSON, type Markup } from "../../pages/html.js";
import { layout } from "../../pages/layout.js";
import type { Authorization } from "../../testing/provider/authorization-endpoint.js";
import type { PersonClaims } from "../../testing/provider/people.js";
import type { ReceivedRequest } from "../../testing/provider/received-requests.js";
import { textClaim } from "./choosable-people.js";
import { personSummary, PUBLIC_PATH } from "./provider-pages.js";

/** What a scope gives, and the claims that only it gives (OpenID Connect Core section 5.4). */
const SCOPES: Readonly<
  Record<string, { readonly words: string; readonly claims: readonly string[] }>
> = {
  openid: { words: "Know who you are", claims: [] },
  email: { words: "See your email address", claims: ["email", "email_verified"] },
  profile: { words: "See your name and picture", claims: ["name", "picture"] },
  offline_access: { words: "Keep its access while you are away", claims: [] },
};

/** Parameter names, because a parameter may be in a request only once. */
const boxOf = (scope: string): string => `scope:${scope}`;

function requestedScopes({ query }: ReceivedRequest): readonly string[] {
  return [...new Set((query.get("scope") ?? "").split(" "))].filter((scope) => scope !== "");
}

/** Returns the scopes that the user left checked. `openid` is always one, because it is a sign-in. */
export function grantedScopes(request: ReceivedRequest): readonly string[] {
  return requestedScopes(request).filter(
    (scope) => scope === "openid" || request.params.has(boxOf(scope)),
  );
}

/** Returns the request as if it had asked for these scopes alone. */
export function withScopes(asked: Authorization, scopes: readonly string[]): Authorization {
  const query = new URLSearchParams(asked.request.query);
  query.set("scope", scopes.join(" "));
  return { ...asked, request: { ...asked.request, query } };
}

/** Returns the person without the claims of the scopes that the user refused. */
export function withoutRefused(
  person: PersonClaims,
  request: ReceivedRequest,
  granted: readonly string[],
): PersonClaims {
  const refused = requestedScopes(request).filter((scope) => !granted.includes(scope));
  const gone = refused.flatMap(
    (scope) => (Object.hasOwn(SCOPES, scope) ? SCOPES[scope]?.claims : undefined) ?? [],
  );
  return Object.fromEntries(Object.entries(person).filter(([name]) => !gone.includes(name)));
}

/** The page on which a person allows or refuses what the application asks for. */
export function consentPage({ request, redirectUri }: Authorization, person: PersonClaims): string {
  const title = "Allow access?";
  const apis = [...request.query.getAll("resource"), ...request.query.getAll("audience")];
  const main = html`<section class="card">
    <div class="emblem">${PERSON}</div>
    <h1>${title}</h1>
    <p>
      The application at <code>${new URL(redirectUri).origin}</code> asks for your permission to:
    </p>
    <form method="post" action="${request.url}">
      <input type="hidden" name="person" value="${textClaim(person, "sub") ?? ""}" />
      <div class="signed-in">${personSummary(person)}</div>
      <ul class="people">
        ${requestedScopes(request).map(scopeBox)}
      </ul>
      ${apis.length === 0 ? undefined : apiList(apis)}
      <button class="button" name="consent" value="allow">Allow</button>
      <button class="button quiet" name="consent" value="deny">Deny</button>
    </form>
  </section>`;
  return layout({ publicPath: PUBLIC_PATH, title, main });
}

function scopeBox(scope: string): Markup {
  const words = Object.hasOwn(SCOPES, scope) ? SCOPES[scope]?.words : undefined;
  const box =
    scope === "openid"
      ? html`<input type="checkbox" checked disabled />`
      : html`<input type="checkbox" name="${boxOf(scope)}" value="yes" checked />`;
  return html`<li>
    <label class="choice">
      ${box}
      <span class="person">
        ${words === undefined ? undefined : html`<span class="name">${words}</span>`}
        <code>${scope}</code>
      </span>
    </label>
  </li>`;
}

function apiList(apis: readonly string[]): Markup {
  return html`<dl class="facts">
    <dt>${apis.length === 1 ? "At the API" : "At the APIs"}</dt>
    ${apis.map((api) => html`<dd><code>${api}</code></dd>`)}
  </dl>`;
}
