import { parseUrl } from "../http/redirects.js";
import type { UserPayload } from "../record/identity.js";
import { html, PERSON, type Markup } from "./html.js";
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

/** The longest picture URL that a page loads. */
export const MAX_PICTURE_URL_LENGTH = 2048;

/**
 * A picture that a page may load, and the origin that the Content-Security-Policy must allow for
 * it.
 */
export interface Picture {
  readonly src: string;
  readonly origin: string;
}

// The host characters of a CSP source (Content Security Policy Level 3 section 2.3.1). URL hosts
// allow more, such as `;` and `*`, with which a claim could change the policy. A CSP source cannot
// be an IPv6 address.
const POLICY_ORIGIN = /^https?:\/\/[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?$/;
const LOOPBACK = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3})$/;

/**
 * An image's address as the Content-Security-Policy writes it: without query and fragment, and with
 * its separators encoded.
 *
 * @param src a path, or an address that {@link acceptablePicture} accepts
 * @param own the application's origin. Where the policy cannot name it, the whole origin is allowed
 *   for a path.
 */
export function imageSource(src: string, own: string | undefined): string {
  if (src.startsWith("/") && !POLICY_ORIGIN.test(own ?? "")) return "'self'";
  const { origin, pathname } = new URL(src, own);
  return `${origin}${pathname.replace(/[;,]/g, (separator) => `%${separator.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}

const FORBIDDEN = /[\s\\\u0000-\u001f\u007f-\u009f]/;

/**
 * The picture of the provider's claim, if a page may load it: an absolute https URL without user
 * info, or http on loopback for development. Otherwise undefined; the page then shows an initial.
 */
export function acceptablePicture(raw: unknown): Picture | undefined {
  if (typeof raw !== "string" || raw.length > MAX_PICTURE_URL_LENGTH) return undefined;
  // The parser accepts `https:host`, tabs and backslashes. Such a text is no absolute URL.
  if (!/^https?:\/\/[^/]/i.test(raw) || FORBIDDEN.test(raw)) return undefined;
  const url = parseUrl(raw);
  if (url === undefined || url.username !== "" || url.password !== "") return undefined;
  if (url.protocol !== "https:" && !LOOPBACK.test(url.hostname)) return undefined;
  // Percent-encoding can make the parsed form longer than the raw one.
  if (url.href.length > MAX_PICTURE_URL_LENGTH || !POLICY_ORIGIN.test(url.origin)) return undefined;
  return { src: url.href, origin: url.origin };
}
