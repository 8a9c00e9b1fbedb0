import { html, PERSON, type Markup } from "../../pages/html.js";
import { layout } from "../../pages/layout.js";
import type { Authorization } from "../../testing/provider/authorization-endpoint.js";
import type { PersonClaims } from "../../testing/provider/people.js";
import type { ReceivedRequest } from "../../testing/provider/received-requests.js";
import { textClaim } from "./choosable-people.js";
import { personSummary, PUBLIC_PATH } from "./provider-pages.js";

const WORDS: ReadonlyMap<string, string> = new Map([
  ["openid", "Know who you are"],
  ["email", "See your email address"],
  ["profile", "See your name and picture"],
  ["offline_access", "Keep its access while you are away"],
]);

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
  const words = WORDS.get(scope);
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
