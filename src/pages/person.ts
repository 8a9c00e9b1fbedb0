import type { UserPayload } from "../record/identity.js";
import { html, PERSON, type Markup } from "./html.js";
import type { Picture } from "./picture.js";
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
  if (name === undefined && email === undefined)
    return html`<p class="name">${texts.say("user.nameless")}</p>`;
  return html`<p class="name"><bdi>${name ?? email}</bdi></p>
    ${name !== undefined && email !== undefined ? html`<p class="email"><bdi>${email}</bdi></p>` : undefined}`;
}

function initial(user: UserPayload): string | undefined {
  const letter = /[\p{L}\p{N}]/u.exec(shownText(user.name) ?? shownText(user.email) ?? "")?.[0];
  return letter === undefined ? undefined : [...letter.toUpperCase()][0];
}

/** The code points of a name or an email that a page shows. An ellipsis replaces the rest. */
export const MAX_SHOWN_CODE_POINTS = 200;

// Control characters, line and paragraph separators, marks and overrides of writing direction, the
// byte order mark and lone surrogates can rearrange or break the text around a name, and are not
// part of one.
const UNSHOWN =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu;

/**
 * A claim as a page may show it: of limited length, on one line, without characters that affect
 * other text. Undefined if nothing visible is left. The result is text, not markup: escape it.
 */
export function shownText(claim: string | null): string | undefined {
  if (claim === null) return undefined;
  // Cut before the regular expressions run: a claim may be a megabyte long.
  const clean = claim
    .slice(0, MAX_SHOWN_CODE_POINTS * 8)
    .replace(UNSHOWN, " ")
    // Many stacked marks cover the lines above and below.
    .replace(/(\p{M}{4})\p{M}+/gu, "$1")
    .replace(/\s+/g, " ")
    .trim();
  if (!/[^\s\p{Cf}\p{M}]/u.test(clean)) return undefined;
  const points = [...clean];
  return points.length > MAX_SHOWN_CODE_POINTS
    ? `${points.slice(0, MAX_SHOWN_CODE_POINTS).join("")}…`
    : clean;
}
