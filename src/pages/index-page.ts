import type { EndReason } from "../record/session-policy.js";
import type { UserPayload } from "../record/identity.js";
import { SIGN_IN_ERRORS, signInErrorCode } from "./sign-in-errors.js";
import { counted, spokenDuration } from "./duration.js";
import { html, type Markup } from "./html.js";
import { CLOCK, NOTICE, PERSON } from "./icons.js";
import { layout } from "./layout.js";
import { avatar, nameAndEmail } from "./person.js";
import { acceptablePicture, type Picture } from "./picture.js";

/** The state of the session that the landing page shows. */
export type IndexState = SignedOut | SignedIn | Ended;

interface SignedOut {
  readonly kind: "signed_out";
}

interface SignedIn {
  readonly kind: "signed_in";
  readonly user: UserPayload;
}

interface Ended {
  readonly kind: "ended";
  readonly reason: EndReason;
  /** The setting that ended the session, if one did; the value of a duration is in whole seconds. */
  readonly setting?: GoverningSetting | undefined;
  /** Absent: the session is deleted, and only the reason is known. */
  readonly user?: UserPayload | undefined;
}

interface GoverningSetting {
  readonly name: string;
  readonly value: string;
}

export interface IndexModel {
  /** Begins and ends with a slash. */
  readonly publicPath: string;
  readonly state: IndexState;
  /** Whether the page links to the user's sessions. */
  readonly sessionsPage?: boolean | undefined;
  /** The raw `error` parameter. The page shows a sentence of a fixed list for it. */
  readonly signInError?: string | undefined;
}

export interface IndexPage {
  readonly html: string;
  /** The origin that the page's Content-Security-Policy must allow for the picture. */
  readonly pictureOrigin?: string;
}

/** The landing page. Pure: its caller decides the state. */
export function indexPage({ publicPath, state, sessionsPage, signInError }: IndexModel): IndexPage {
  const picture = state.kind === "signed_out" ? undefined : acceptablePicture(state.user?.picture);
  const { title, card } = cardOf(state, { publicPath, picture, sessionsPage });
  const main = html`${signInError === undefined ? undefined : signInErrorNotice(signInError)}
    <section class="card">${card}</section>`;
  const text = layout({ publicPath, title: signInError === undefined ? title : `Sign-in not completed – ${title}`, main });
  return picture === undefined ? { html: text } : { html: text, pictureOrigin: picture.origin };
}

interface CardOptions extends Pick<IndexModel, "publicPath" | "sessionsPage"> {
  readonly picture: Picture | undefined;
}

function cardOf(state: IndexState, options: CardOptions): { title: string; card: Markup } {
  const { publicPath } = options;
  if (state.kind === "signed_in") return { title: "Signed in", card: signedIn(state.user, options) };
  // A session that never held credentials has not ended.
  if (state.kind === "signed_out" || state.reason === "no_credentials") return { title: "Signed out", card: signedOut(publicPath) };
  return { title: "Session ended", card: ended(state, explanation(state.reason, state.setting), options) };
}

function signedOut(publicPath: string): Markup {
  return html` <div class="emblem">${PERSON}</div>
    <h1>You are signed out</h1>
    <p>Sign in with your account to continue.</p>
    <p class="actions"><a class="button" href="${publicPath}login/">Sign in</a></p>`;
}

function signedIn(user: UserPayload, { publicPath, picture, sessionsPage }: CardOptions): Markup {
  return html` ${avatar(user, picture)}
    <h1>You are signed in</h1>
    <div class="person">${nameAndEmail(user)}</div>
    <p class="actions"><a class="button quiet" href="${publicPath}logout/">Sign out</a></p>
    <nav aria-label="More">
      <ul class="links">
        ${sessionsPage === true ? html`<li><a href="${publicPath}sessions">Your sessions</a></li>` : undefined}
        <li><a href="${publicPath}login/?select_account=true">Use another account</a></li>
        <li><a href="${publicPath}session">Session status (JSON)</a></li>
      </ul>
    </nav>`;
}

function ended({ user }: Ended, { why, rule }: Explanation, { publicPath, picture }: CardOptions): Markup {
  return html` <div class="emblem">${CLOCK}</div>
    <h1>Your session has ended</h1>
    <p>${why}</p>
    ${rule && html`<p class="rule">${rule}</p>`}
    <p class="actions"><a class="button" href="${publicPath}login/">Sign in again</a></p>
    ${
      user &&
      html`<div class="before">
        ${avatar(user, picture)}
        <div class="person">
          <p class="label">You were signed in as</p>
          ${nameAndEmail(user)}
        </div>
        <a href="${publicPath}logout/">Sign out</a>
      </div>`
    }`;
}

interface Explanation {
  /** Why the session ended, for the user. */
  readonly why: string;
  /** The setting that ended it, with its value, for the operator. */
  readonly rule?: Markup;
}

function explanation(reason: Exclude<EndReason, "no_credentials">, setting: GoverningSetting | undefined): Explanation {
  switch (reason) {
    case "max_age":
      return {
        why: "It reached the maximum age of a session on this site. Being active does not extend it.",
        rule: age("Maximum age", setting?.name ?? "IDP_SESSION_MAX_AGE", setting?.value),
      };
    case "idle":
      return {
        why: "You were inactive for longer than this site allows.",
        rule: age("Idle timeout", setting?.name ?? "IDP_SESSION_IDLE_TIMEOUT", setting?.value),
      };
    case "session_expiry":
      return { why: "It reached the time limit that the identity provider set for it." };
    case "logged_out_at_provider":
      return { why: "You were signed out by your organisation." };
    case "ended_everywhere":
      return { why: "This session was ended on another device, or by an administrator." };
    case "auto_refresh_off":
      return {
        why: "The provider's proof of your identity has expired, and this site does not renew it by itself.",
        rule: html`<span>Automatic renewal</span> <code>${setting?.name ?? "IDP_SESSION_AUTO_REFRESH"} ${setting?.value ?? "off"}</code>`,
      };
    case "no_refresh_token":
      return { why: "The provider's proof of your identity has expired, and the provider gave no refresh token to renew it." };
    case "claims_rejected":
      return { why: "The identity provider no longer sends all the information about you that this site needs." };
    case "denied":
      return { why: "This site no longer admits your account." };
    case "refresh_rejected":
      return { why: "The provider's proof of your identity has expired, and the provider refused to renew it." };
  }
}

/** A duration, in words and in seconds. */
function age(label: string, name: string, value: string | undefined): Markup {
  if (value === undefined) return html`<span>${label}</span> <code>${name}</code>`;
  if (!/^\d{1,15}$/.test(value)) return html`<span>${label}</span> <code>${name} = ${value}</code>`;
  const seconds = Number(value);
  const spoken = spokenDuration(seconds);
  const written = counted(seconds, "second");
  return html`<span>${label}${spoken === written ? undefined : html`: ${spoken}`}</span> <code>${name} = ${written}</code>`;
}

function signInErrorNotice(raw: string): Markup {
  const code = signInErrorCode(raw);
  return html`<div class="notice" role="alert">
    ${NOTICE}
    <div>
      <p><strong>The sign-in was not completed.</strong> ${SIGN_IN_ERRORS[code]}</p>
      <p class="code"><code>${code}</code></p>
    </div>
  </div> `;
}
