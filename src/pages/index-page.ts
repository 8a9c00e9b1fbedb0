import type { EndReason } from "../record/session-policy.js";
import type { UserPayload } from "../record/identity.js";
import { html, type Markup } from "./html.js";
import { CLOCK, NOTICE, PERSON } from "./icons.js";
import type { PageContent } from "./page-content.js";
import { avatar, nameAndEmail } from "./person.js";
import { acceptablePicture, type Picture } from "./picture.js";
import { signInErrorCode } from "./sign-in-errors.js";
import type { Texts } from "./texts.js";

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

/** The landing page. Pure: its caller decides the state. */
export function indexPage({ publicPath, state, sessionsPage, signInError }: IndexModel, texts: Texts): PageContent {
  const picture = state.kind === "signed_out" ? undefined : acceptablePicture(state.user?.picture);
  const { kind, card } = cardOf(state, { publicPath, picture, sessionsPage, texts });
  const title = texts.say(`${kind}.title`);
  return {
    status: 200,
    title: signInError === undefined ? title : texts.say("title.signInError", { title }),
    main: html`${signInError === undefined ? undefined : signInErrorNotice(signInError, texts)}
      <section class="card">${card}</section>`,
    picture,
  };
}

interface CardOptions extends Pick<IndexModel, "publicPath" | "sessionsPage"> {
  readonly picture: Picture | undefined;
  readonly texts: Texts;
}

function cardOf(state: IndexState, options: CardOptions): { kind: "signedIn" | "signedOut" | "ended"; card: Markup } {
  if (state.kind === "signed_in") return { kind: "signedIn", card: signedIn(state.user, options) };
  // A session that never held credentials has not ended.
  if (state.kind === "signed_out" || state.reason === "no_credentials") return { kind: "signedOut", card: signedOut(options) };
  return { kind: "ended", card: ended(state, state.reason, options) };
}

function signedOut({ publicPath, texts: { say } }: CardOptions): Markup {
  return html` <div class="emblem">${PERSON}</div>
    <h1>${say("signedOut.heading")}</h1>
    <p>${say("signedOut.text")}</p>
    <p class="actions"><a class="button" href="${publicPath}login/">${say("action.signIn")}</a></p>`;
}

function signedIn(user: UserPayload, { publicPath, picture, sessionsPage, texts }: CardOptions): Markup {
  const { say } = texts;
  return html` ${avatar(user, picture)}
    <h1>${say("signedIn.heading")}</h1>
    <div class="person">${nameAndEmail(user, texts)}</div>
    <p class="actions"><a class="button quiet" href="${publicPath}logout/">${say("action.signOut")}</a></p>
    <nav aria-label="${say("nav.more")}">
      <ul class="links">
        ${sessionsPage === true ? html`<li><a href="${publicPath}sessions">${say("signedIn.sessions")}</a></li>` : undefined}
        <li><a href="${publicPath}login/?select_account=true">${say("signedIn.selectAccount")}</a></li>
        <li><a href="${publicPath}session">${say("signedIn.status")}</a></li>
      </ul>
    </nav>`;
}

function ended({ user, setting }: Ended, reason: ShownReason, { publicPath, picture, texts }: CardOptions): Markup {
  const { say } = texts;
  const rule = ruleOf(reason, setting, texts);
  return html` <div class="emblem">${CLOCK}</div>
    <h1>${say("ended.heading")}</h1>
    <p>${say(`ended.${reason}`)}</p>
    ${rule && html`<p class="rule">${rule}</p>`}
    <p class="actions"><a class="button" href="${publicPath}login/">${say("action.signInAgain")}</a></p>
    ${
      user &&
      html`<div class="before">
        ${avatar(user, picture)}
        <div class="person">
          <p class="label">${say("ended.user")}</p>
          ${nameAndEmail(user, texts)}
        </div>
        <a href="${publicPath}logout/">${say("action.signOut")}</a>
      </div>`
    }`;
}

type ShownReason = Exclude<EndReason, "no_credentials">;

/** The setting that ended the session, with its value, for the operator. */
function ruleOf(reason: ShownReason, setting: GoverningSetting | undefined, texts: Texts): Markup | undefined {
  switch (reason) {
    case "max_age":
      return age(texts.say("rule.max_age"), setting?.name ?? "IDP_SESSION_MAX_AGE", setting?.value, texts);
    case "idle":
      return age(texts.say("rule.idle"), setting?.name ?? "IDP_SESSION_IDLE_TIMEOUT", setting?.value, texts);
    case "auto_refresh_off":
      return html`<span>${texts.say("rule.auto_refresh_off")}</span>
        <code>${setting?.name ?? "IDP_SESSION_AUTO_REFRESH"} ${setting?.value ?? "off"}</code>`;
    default:
      return undefined;
  }
}

/** A duration, in words and in seconds. */
function age(rule: string, name: string, value: string | undefined, { say, duration, seconds }: Texts): Markup {
  if (value === undefined) return html`<span>${rule}</span> <code>${name}</code>`;
  if (!/^\d{1,15}$/.test(value)) return html`<span>${rule}</span> <code>${name} = ${value}</code>`;
  const spoken = duration(Number(value));
  const written = seconds(Number(value));
  return html`<span>${spoken === written ? rule : say("rule.duration", { rule, duration: spoken })}</span>
    <code>${name} = ${written}</code>`;
}

function signInErrorNotice(raw: string, { say }: Texts): Markup {
  const code = signInErrorCode(raw);
  return html`<div class="notice" role="alert">
    ${NOTICE}
    <div>
      <p><strong>${say("signIn.failed")}</strong> ${say(`signIn.${code}`)}</p>
      <p class="code"><code>${code}</code></p>
    </div>
  </div> `;
}
