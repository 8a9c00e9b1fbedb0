import { ERRORS, type ErrorCode } from "../errors.js";
import type { UserPayload } from "../record/identity.js";
import { html, isSafeAddress, NOTICE, PAUSE, type Markup } from "./html.js";
import type { MessageKey } from "./messages.js";
import type { PageContent } from "./page-description.js";
import { shownText } from "./person.js";
import { ownText, type Texts } from "./texts.js";

export interface ErrorModel {
  /** Begins and ends with a slash. */
  readonly publicPath: string;
  readonly code: ErrorCode;
  /**
   * A sentence for the user. It must not repeat text of the request or the provider. Default: a
   * sentence for the code.
   */
  readonly detail?: string | undefined;
  /**
   * For `invalid_parameter`: the parameters without a valid value, with the reason as an English
   * sentence without its full stop. The page then has its own sentences, and `detail` is for the
   * problem document.
   */
  readonly parameters?: readonly { readonly name: string; readonly reason?: string }[] | undefined;
  /** For `invalid_parameter`: the valid values by parameter. */
  readonly validOptions?: Readonly<Record<string, readonly string[]>> | undefined;
  /**
   * The link to continue with. An address that is neither a path nor http(s) is left out. Default:
   * the link for the code; null: none.
   */
  readonly action?: Action | null | undefined;
  /** The signed-in user, whose session a failed sign-in has not changed. Also for `pages.render`. */
  readonly user?: UserPayload | undefined;
  /** Whether the request was a form's, which a link can't send again. */
  readonly isForm?: boolean;
  /** Whether nothing of the request has been processed. */
  readonly isUnprocessed?: boolean;
  /** Seconds; the page shows them. The endpoint sets the header. */
  readonly retryAfter?: number | undefined;
  /** Whether only this session waits: the provider does not renew it, and a new sign-in may help. */
  readonly isNotRenewed?: boolean;
  /** Whether the provider is a customer's own, from a source. */
  readonly isOrganizations?: boolean;
  /** Whether the page contains what is for developers. */
  readonly debug?: boolean;
  /** Whether the browser has no session, so that an outage can't have ended one. */
  readonly isStranger?: boolean;
}

export interface Action {
  readonly label: Extract<MessageKey, `action.${string}` | "signedIn.selectAccount">;
  /** A path with one leading slash, an absolute http(s) URL, or empty for the current address. */
  readonly href: string;
}

/** Whether nothing was decided, so that a session, if there is one, is unchanged; the page says so. */
function isOutage(code: ErrorCode): boolean {
  return ERRORS[code].status === 503 && code !== "prefetch_refused";
}

/** Whether the user's organization can correct the settings, and the operators of the site can't. */
function isTheirs({ code, isOrganizations = false }: ErrorModel): boolean {
  return isOrganizations && code === "provider_misconfigured";
}

/** The page that shows an error to a user. */
export function errorPage(model: ErrorModel, texts: Texts): PageContent {
  const { code, debug = false } = model;
  const { say } = texts;
  const { status } = ERRORS[code];
  // Its detail is a technical text for the developers, which has no translation.
  const isTechnical = code === "login_loop";
  const isEnglish = isTechnical && debug;
  const key = model.isNotRenewed === true ? "error.not_renewed" : `error.${code}`;
  const title = ownText(key, texts) ?? titleOf(code, texts);
  const outage = isOutage(code);
  const detail =
    isTechnical && !debug
      ? say("error.provider_misconfigured.text")
      : (parameterText(model.parameters, texts) ??
        model.detail ??
        ownText(`${key}.${isTheirs(model) ? "organization" : "text"}`, texts));
  const action = model.action === undefined ? defaultAction(model) : model.action;
  const kept = outage ? outageText({ ...model, action }, texts) : undefined;
  const present = model.user && SIGN_INS.has(code) ? presentUser(model.user, texts) : undefined;
  const link =
    action && isSafeAddress(action.href) ? { ...action, label: say(action.label) } : undefined;
  const main = html`<section class="card">
    <div class="emblem">${outage ? PAUSE : NOTICE}</div>
    <h1>${title}</h1>
    ${detail === undefined ? undefined : isEnglish ? html`<p lang="en" dir="ltr">${detail}</p>` : html`<p>${detail}</p>`}
    ${model.validOptions && optionList(model.validOptions)} ${kept && html`<p>${kept}</p>`}${present && html`<p>${present.shown}</p>`}
    ${link && html`<p class="actions"><a class="button" href="${link.href}">${link.label}</a></p>`}
    <p class="code">${say("error.code", { status })} <code>${code}</code></p>
  </section>`;
  return {
    kind: "error",
    status,
    title,
    heading: title,
    texts: [detail, kept, present?.text].filter((text) => text !== undefined),
    code,
    user: model.user,
    action: link,
    main,
  };
}

/** The title of an error without a text of its own: an API's has one in every language. */
function titleOf(code: ErrorCode, { language, say }: Texts): string {
  const { status, title } = ERRORS[code];
  if (language === "en" || !code.startsWith("api_")) return title;
  if (status === 401) return say("error.insufficient_user_authentication");
  if (status === 403) return say("error.forbidden");
  return say(status < 500 ? "error.not_found" : "error.unavailable");
}

/** The errors of a sign-in that leave the session of a signed-in user as it was. */
const SIGN_INS: ReadonlySet<ErrorCode> = new Set([
  "login_link_invalid",
  "sign_in_refused",
  "sign_in_denied",
  "claims_rejected",
  "step_up_failed",
]);

/** Says who is still signed in: another user than the one who has just failed to sign in, perhaps. */
function presentUser({ email, name }: UserPayload, { say, parts }: Texts) {
  const user = shownText(email) ?? shownText(name) ?? say("otherUser.unnamed");
  return {
    text: say("error.signedInAs", { user }),
    // Isolated, so that its writing direction does not affect the other text.
    shown: parts("error.signedInAs", { user: html`<bdi>${user}</bdi>` }),
  };
}

function defaultAction({ code, publicPath, isForm = false }: ErrorModel): Action | null {
  if (code === "login_link_invalid" || code === "sign_in_refused")
    return { label: "action.startAgain", href: `${publicPath}login/` };
  // A link would send no form again, and until the operators have corrected something, neither helps.
  if (isOutage(code))
    return isForm || code === "provider_misconfigured"
      ? null
      : { label: "action.tryAgain", href: "" };
  if (code === "prefetch_refused") return { label: "action.continue", href: "" };
  // The user is signed in. That page also offers another account.
  if (code === "forbidden") return { label: "action.showAccount", href: publicPath };
  return { label: "action.signInPage", href: publicPath };
}

/** What a user needs to know in an outage. Only a browser that has a session can be signed in. */
function outageText(
  { code, action, retryAfter, isStranger = false, isForm, isUnprocessed }: ErrorModel,
  { say, duration }: Texts,
): string | undefined {
  const isUnsent = isForm && isUnprocessed;
  const retry =
    retryAfter === undefined
      ? say("error.later")
      : say(isUnsent ? "error.reload" : "error.retry", {
          duration: duration(Math.max(1, Math.ceil(retryAfter))),
        });
  const isCorrectable = code === "provider_misconfigured";
  const texts = [
    // A new sign-in of this session may help, if it is offered.
    isCorrectable && !action && say("error.notUntilCorrected"),
    !isStranger && say("error.signedIn"),
    isUnsent && say("error.unprocessed"),
    !isCorrectable && retry,
  ].filter((text) => typeof text === "string");
  return texts.length === 0 ? undefined : texts.join(" ");
}

/** The reasons are in English only; in other languages the page names the parameters. */
function parameterText(
  parameters: ErrorModel["parameters"],
  { language, say }: Texts,
): string | undefined {
  return parameters
    ?.map(({ name, reason }) =>
      reason === undefined || language !== "en" ? say("error.parameter", { name }) : `${reason}.`,
    )
    .join(" ");
}

function optionList(options: Readonly<Record<string, readonly string[]>>): Markup {
  const rows = Object.entries(options).map(
    ([parameter, values]) =>
      html`<div>
        <dt><code>${parameter}</code></dt>
        ${values.map((value) => html`<dd><code>${value}</code></dd>`)}
      </div>`,
  );
  return html`<dl class="options">${rows}</dl>`;
}
