import { variableOf } from "../../config/provider-keys.js";
import type { Reply } from "../../http/reply.js";
import { html, NOTICE, PERSON, type Markup } from "../../pages/html.js";
import { layout } from "../../pages/layout.js";
import { page } from "../../pages/page-reply.js";
import { avatar, shownText } from "../../pages/person.js";
import { hintedPerson, type PersonClaims } from "../../testing/provider/people.js";
import type { ProviderReply } from "../../testing/provider/replies.js";
import { textClaim } from "./choosable-people.js";
import type { DevelopmentProvider } from "./development-provider.js";

/** Where the stylesheet is. */
export const PUBLIC_PATH = "/";
// No form-action: browsers also apply it to the redirects that follow the form, and those lead to
// the application.
const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";
const DEVELOPMENT = "This provider is for development, so it does not ask for a password.";
const DEVELOPMENT_OF_SEVERAL =
  "These providers are for development, so they do not ask for a password.";

export interface Choice {
  /** The provider's key; undefined: the only provider. */
  readonly key: string | undefined;
  readonly people: readonly PersonClaims[];
  /** `login_hint` of the authorization request. */
  readonly hint: string | null;
  /** The application's origin. */
  readonly application: string;
  /** Where the form goes: path and query of the authorization request. */
  readonly action: string;
}

/** The page on which the user chooses a person, or cancels. */
export function choicePage({ key, people, hint, application, action }: Choice): string {
  const hinted = hintedPerson(people, hint);
  const inOrder =
    hinted === undefined ? people : [hinted, ...people.filter((person) => person !== hinted)];
  const at = key === undefined ? undefined : html` at the provider <code>${key}</code>`;
  const main = html`<section class="card">
    <div class="emblem">${PERSON}</div>
    <h1>Choose a person to sign in as</h1>
    <p>The application at <code>${application}</code> asks you to sign in${at}. ${DEVELOPMENT}</p>
    <form method="post" action="${action}">
      <ul class="people">
        ${inOrder.map((person) => choice(person, person === hinted))}
      </ul>
      <button class="button quiet" name="cancel" value="yes">Cancel</button>
    </form>
  </section>`;
  return layout({ publicPath: PUBLIC_PATH, title: "Choose a person to sign in as", main });
}

function choice(person: PersonClaims, isHinted: boolean) {
  return html`<li>
    <button class="choice" name="person" value="${textClaim(person, "sub") ?? ""}">
      ${personSummary(person, isHinted ? html`<span class="label">The application suggests this person.</span>` : undefined)}
    </button>
  </li>`;
}

function nameOf(person: PersonClaims): string | undefined {
  return shownText(textClaim(person, "name")) ?? shownText(textClaim(person, "email"));
}

export function personSummary(person: PersonClaims, label?: Markup) {
  const user = {
    name: textClaim(person, "name"),
    email: textClaim(person, "email"),
    picture: null,
  };
  const name = shownText(user.name);
  const email = shownText(user.email);
  return html`${avatar(user, undefined)}
    <span class="person">
      <span class="name"><bdi>${name ?? email}</bdi></span>
      ${name !== email && email !== undefined ? html`<span class="email"><bdi>${email}</bdi></span>` : undefined}
      ${label}
    </span>`;
}

/** The page at the address of the command. @param notice the result of the last action */
export function homePage(providers: readonly DevelopmentProvider[], notice?: string): string {
  const isSingle = providers.length === 1;
  const heading = isSingle ? "The provider is running" : "The providers are running";
  const main = html`<section class="card">
    <div class="emblem">${PERSON}</div>
    <h1>${heading}</h1>
    ${notice === undefined ? undefined : html`<p role="status">${notice}</p>`}
    <p>
      ${isSingle ? DEVELOPMENT : DEVELOPMENT_OF_SEVERAL} Open your application and sign in there.
    </p>
    ${providers.map(providerFacts)}
    <p class="code">
      The command <code>npx idpauth provider</code> has printed the other settings, or written them
      to a file.
    </p>
  </section>`;
  return layout({ publicPath: PUBLIC_PATH, title: "idpauth provider for development", main });
}

function providerFacts(provider: DevelopmentProvider): Markup {
  const { key, issuer, people, sessions } = provider;
  const signedIn = people.filter((person) => sessions.signedIn.has(textClaim(person, "sub") ?? ""));
  const variable = key === undefined ? "IDP_ISSUER" : variableOf(key, "IDP_ISSUER");
  return html`${key === undefined ? undefined : html`<h2>${key}</h2>`}
    ${signedIn.length === 0 ? undefined : sessionList(provider, signedIn)}
    <dl class="facts">
      <dt><code>${variable}</code></dt>
      <dd><code>${issuer}</code></dd>
      <dt>People</dt>
      ${people.map((person) => html`<dd><bdi>${nameOf(person)}</bdi></dd>`)}
    </dl>`;
}

function sessionList({ key, path }: DevelopmentProvider, people: readonly PersonClaims[]): Markup {
  const heading = "Signed in at the provider";
  return html`${key === undefined ? html`<h2>${heading}</h2>` : html`<h3>${heading}</h3>`}
    <form method="post" action="${path}/end">
      <ul class="people">
        ${people.map(
          (person) =>
            html`<li class="choice">
              ${personSummary(person)}
              <button
                class="button"
                name="person"
                value="${textClaim(person, "sub") ?? ""}"
                aria-label="End the session of ${nameOf(person)}"
              >
                End the session
              </button>
            </li>`,
        )}
      </ul>
    </form>`;
}

/** The page for a request that the provider cannot redirect to the application. */
export function problemPage(title: string, detail: string): string {
  const main = html`<section class="card">
    <div class="emblem">${NOTICE}</div>
    <h1>${title}</h1>
    <p>${detail}</p>
    <p class="code">${DEVELOPMENT}</p>
  </section>`;
  return layout({ publicPath: PUBLIC_PATH, title, main });
}

export function showPage(status: number, document: string): ProviderReply {
  return toReply(
    page(status, document, {
      headers: { "Content-Security-Policy": POLICY, "Referrer-Policy": "same-origin" },
    }),
  );
}

export function toReply({ status, headers, body = "" }: Reply): ProviderReply {
  return { status, headers, body };
}
