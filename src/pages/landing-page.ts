import type { EndReason } from "../record/end-reason.js";
import type { UserPayload } from "../record/identity.js";
import { signInErrorCode } from "../record/sign-in-errors.js";
import { html, CLOCK, NOTICE, PERSON, type Markup } from "./html.js";
import type { PageContent } from "./page-description.js";
import { avatar, nameAndEmail } from "./person.js";
import { acceptablePicture } from "./picture.js";
import type { Texts } from "./texts.js";

/** The state of the session that the landing page shows. */
export type LandingState =
  | { readonly kind: "signed_out" }
  | { readonly kind: "signed_in"; readonly user: UserPayload }
  | Ended;

interface Ended {
  readonly kind: "ended";
  readonly reason: EndReason;
  /**
   * The setting that ended the session, if one did; the value of a duration is in whole seconds.
   */
  readonly setting?: { readonly name: string; readonly value: string } | undefined;
  /** Absent: the session is deleted, and only the reason is known. */
  readonly user?: UserPayload | undefined;
}

export interface LandingModel {
  /** Begins and ends with a slash. */
  readonly publicPath: string;
  readonly state: LandingState;
  /** Whether the page links to the user's sessions. */
  readonly sessionsPage?: boolean | undefined;
  /** The application's start page: a path or an http(s) URL. */
  readonly homeHref?: string | undefined;
  /**
   * The path of the login that failed, back to its page. Default: a login that leads to the
   * configured page.
   */
  readonly retryHref?: string | undefined;
  /** Whether the page contains what is for developers. */
  readonly debug?: boolean | undefined;
  /** The raw `error` parameter. The page shows a sentence of a fixed list for it. */
  readonly signInError?: string | undefined;
}

/** The landing page. Pure: its caller decides the state. */
export function landingPage(model: LandingModel, texts: Texts): PageContent {
  const { signInError } = model;
  const alert = signInError === undefined ? undefined : signInAlert(signInError, texts);
  const { title, card, ...content } = cardOf(model, texts);
  return {
    ...content,
    status: 200,
    title: alert === undefined ? title : texts.say("title.signInError", { title }),
    alert: alert?.text,
    main: html`${alert?.notice}
      <section class="card">${card}</section>`,
  };
}

type Card = Omit<PageContent, "status" | "main"> & { readonly card: Markup };

function cardOf(model: LandingModel, texts: Texts): Card {
  const { state } = model;
  if (state.kind === "signed_in") return signedIn(state.user, model, texts);
  // A session that never held credentials has not ended.
  if (state.kind === "signed_out" || state.reason === "no_credentials")
    return signedOut(model, texts);
  return ended({ ...state, reason: state.reason }, model, texts);
}

function signedOut({ publicPath, retryHref }: LandingModel, { say }: Texts): Card {
  const heading = say("signedOut.heading");
  const text = say("signedOut.text");
  const action =
    retryHref === undefined
      ? { label: say("action.signIn"), href: `${publicPath}login/` }
      : { label: say("action.tryAgain"), href: retryHref };
  const card = html` <div class="emblem">${PERSON}</div>
    <h1>${heading}</h1>
    <p>${text}</p>
    <p class="actions"><a class="button" href="${action.href}">${action.label}</a></p>`;
  return {
    kind: "signed-out",
    title: say("signedOut.title"),
    heading,
    texts: [text],
    action,
    card,
  };
}

function signedIn(
  user: UserPayload,
  { publicPath, homeHref, sessionsPage, debug }: LandingModel,
  texts: Texts,
): Card {
  const { say } = texts;
  const picture = acceptablePicture(user.picture);
  const heading = say("signedIn.heading");
  const home =
    homeHref === undefined ? undefined : { label: say("action.continue"), href: homeHref };
  const card = html` ${avatar(user, picture)}
    <h1>${heading}</h1>
    <div class="person">${nameAndEmail(user, texts)}</div>
    ${home && html`<p class="actions"><a class="button" href="${home.href}">${home.label}</a></p>`}
    <p class="actions">
      <a class="button quiet" href="${publicPath}logout/">${say("action.signOut")}</a>
    </p>
    <nav aria-label="${say("nav.more")}">
      <ul class="links">
        ${sessionsPage === true ? html`<li><a href="${publicPath}sessions">${say("sessions.title")}</a></li>` : undefined}
        <li>
          <a href="${publicPath}login/?select_account=true">${say("signedIn.selectAccount")}</a>
        </li>
        ${debug === true ? html`<li><a href="${publicPath}session">${say("signedIn.status")}</a></li>` : undefined}
      </ul>
    </nav>`;
  const action = home ?? { label: say("action.signOut"), href: `${publicPath}logout/` };
  return {
    kind: "signed-in",
    title: say("signedIn.title"),
    heading,
    texts: [],
    user,
    picture,
    action,
    card,
  };
}

function ended(
  { user, setting, reason }: Ended & { readonly reason: ShownReason },
  { publicPath, debug = false, retryHref }: LandingModel,
  texts: Texts,
): Card {
  const { say } = texts;
  const picture = acceptablePicture(user?.picture);
  const heading = say("ended.heading");
  const text = say(`ended.${reason}`);
  const rule = durationOf(reason, setting, texts);
  const action = { label: say("action.signInAgain"), href: retryHref ?? `${publicPath}login/` };
  const card = html` <div class="emblem">${CLOCK}</div>
    <h1>${heading}</h1>
    <p>${text}</p>
    ${rule && html`<p class="rule">${rule}</p>`}
    ${debug && setting !== undefined ? html`<p class="code"><code>${setting.name} = ${setting.value}</code></p>` : undefined}
    <p class="actions"><a class="button" href="${action.href}">${action.label}</a></p>
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
  return {
    kind: "ended",
    title: say("ended.title"),
    heading,
    texts: rule === undefined ? [text] : [text, rule],
    reason,
    user,
    picture,
    action,
    card,
  };
}

type ShownReason = Exclude<EndReason, "no_credentials">;

/** The duration that a session of this site may have: "Maximum age: 8 hours". */
function durationOf(
  reason: ShownReason,
  setting: Ended["setting"],
  { say, duration }: Texts,
): string | undefined {
  if (reason !== "max_age" && reason !== "idle") return undefined;
  if (setting === undefined || !/^\d{1,15}$/.test(setting.value)) return undefined;
  return say("rule.duration", {
    rule: say(`rule.${reason}`),
    duration: duration(Number(setting.value)),
  });
}

function signInAlert(
  raw: string,
  { say }: Texts,
): { readonly text: string; readonly notice: Markup } {
  const code = signInErrorCode(raw);
  const failed = say("signIn.failed");
  const why = say(`signIn.${code}`);
  const notice = html`<div class="notice" role="alert">
    ${NOTICE}
    <div>
      <p><strong>${failed}</strong> ${why}</p>
      <p class="code"><code>${code}</code></p>
    </div>
  </div> `;
  return { text: `${failed} ${why}`, notice };
}
