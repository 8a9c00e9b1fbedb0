import { html } from "../../pages/html.js";
import { NOTICE, PERSON } from "../../pages/icons.js";
import { layout } from "../../pages/layout.js";
import { avatar } from "../../pages/person.js";
import { shownText } from "../../pages/shown-text.js";
import { hintedPerson, type PersonClaims } from "../../testing/provider/people.js";
import { textClaim } from "./choosable-people.js";

const publicPath = "/";
const DEVELOPMENT = "This provider is for development: it asks for no password.";

export interface Choice {
  readonly people: readonly PersonClaims[];
  /** `login_hint` of the authorization request. */
  readonly hint: string | null;
  /** The application's origin. */
  readonly application: string;
  /** Where the form goes: path and query of the authorization request. */
  readonly action: string;
}

/** The page on which the user chooses a person, or cancels. */
export function choicePage({ people, hint, application, action }: Choice): string {
  const hinted = hintedPerson(people, hint);
  const inOrder = hinted === undefined ? people : [hinted, ...people.filter((person) => person !== hinted)];
  const main = html`<section class="card">
    <div class="emblem">${PERSON}</div>
    <h1>Choose a person to sign in as</h1>
    <p>The application at <code>${application}</code> asks you to sign in. ${DEVELOPMENT}</p>
    <form method="post" action="${action}">
      <ul class="people">
        ${inOrder.map((person) => choice(person, person === hinted))}
      </ul>
      <button class="button quiet" name="cancel" value="yes">Cancel</button>
    </form>
  </section>`;
  return layout({ publicPath, title: "Choose a person to sign in as", main });
}

function choice(person: PersonClaims, isHinted: boolean) {
  const user = { name: textClaim(person, "name"), email: textClaim(person, "email"), picture: null };
  const name = shownText(user.name);
  const email = shownText(user.email);
  return html`<li>
    <button class="choice" name="person" value="${textClaim(person, "sub") ?? ""}">
      ${avatar(user, undefined)}
      <span class="person">
        <span class="name"><bdi>${name ?? email}</bdi></span>
        ${name !== email && email !== undefined ? html`<span class="email"><bdi>${email}</bdi></span>` : undefined}
        ${isHinted ? html`<span class="label">The application suggests this person.</span>` : undefined}
      </span>
    </button>
  </li>`;
}

/** The page at the provider's own address. */
export function homePage(issuer: string, people: readonly PersonClaims[]): string {
  const main = html`<section class="card">
    <div class="emblem">${PERSON}</div>
    <h1>The provider is running</h1>
    <p>${DEVELOPMENT} Open your application and sign in there.</p>
    <dl class="facts">
      <dt><code>IDP_ISSUER</code></dt>
      <dd><code>${issuer}</code></dd>
      <dt>People</dt>
      ${people.map((person) => html`<dd><bdi>${shownText(textClaim(person, "name")) ?? shownText(textClaim(person, "email"))}</bdi></dd>`)}
    </dl>
    <p class="code">The command <code>npx idpauth provider</code> has printed the other settings, or written them to a file.</p>
  </section>`;
  return layout({ publicPath, title: "idpauth provider for development", main });
}

/** The page for a request that the provider cannot redirect to the application. */
export function problemPage(title: string, detail: string): string {
  const main = html`<section class="card">
    <div class="emblem">${NOTICE}</div>
    <h1>${title}</h1>
    <p>${detail}</p>
    <p class="code">${DEVELOPMENT}</p>
  </section>`;
  return layout({ publicPath, title, main });
}
