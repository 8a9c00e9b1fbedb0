import type { UserPayload } from "../record/identity.js";
import { html, type Markup } from "./html.js";
import { PERSON } from "./icons.js";
import type { Picture } from "./picture.js";
import { shownText } from "./shown-text.js";
import type { Texts } from "./texts.js";

/** The round picture. It has no alternative text, since the name is next to it. */
export function avatar(user: UserPayload, picture: Picture | undefined): Markup {
  const letter = initial(user);
  // If the picture does not load, the stylesheet shows `data-initial`; the page has no script.
  const face = picture
    ? html`<img
        src="${picture.src}"
        alt=""
        width="72"
        height="72"
        referrerpolicy="no-referrer"
        decoding="async"
        data-initial="${letter}"
      />`
    : html`<span class="initial" aria-hidden="true">${letter ?? PERSON}</span>`;
  return html`<span class="avatar">${face}</span>`;
}

/** Name and email, each isolated, so that its writing direction does not affect the other text. */
export function nameAndEmail(user: UserPayload, texts: Texts): Markup {
  const name = shownText(user.name);
  const email = shownText(user.email);
  if (name === undefined && email === undefined) return html`<p class="name">${texts.say("user.nameless")}</p>`;
  return html`<p class="name"><bdi>${name ?? email}</bdi></p>
    ${name !== undefined && email !== undefined ? html`<p class="email"><bdi>${email}</bdi></p>` : undefined}`;
}

function initial(user: UserPayload): string | undefined {
  const letter = /[\p{L}\p{N}]/u.exec(shownText(user.name) ?? shownText(user.email) ?? "")?.[0];
  return letter === undefined ? undefined : [...letter.toUpperCase()][0];
}
