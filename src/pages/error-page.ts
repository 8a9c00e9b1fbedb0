import { ERRORS, type ErrorCode } from "../errors.js";
import type { UserPayload } from "../record/identity.js";
import { html, isSafeAddress, NOTICE, PAUSE, type Markup } from "./html.js";
import type { MessageKey } from "./messages.js";
import type { PageContent } from "./page-description.js";
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
   * the link for the code.
   */
  readonly action?: Action | undefined;
  /** The signed-in user, for `pages.render`. */
  readonly user?: UserPayload | undefined;
  /** Seconds; the page shows them. The endpoint sets the header. */
  readonly retryAfter?: number | undefined;
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

/** The page that shows an error to a user. */
export function errorPage(model: ErrorModel, texts: Texts): PageContent {
  const { publicPath, code, debug = false } = model;
  const { say } = texts;
  const { status } = ERRORS[code];
  // Its detail is a technical text for the developers, which has no translation.
  const isTechnical = code === "login_loop";
  const isEnglish = isTechnical && debug;
  const title = ownText(`error.${code}`, texts) ?? titleOf(code, texts);
  const outage = isOutage(code);
  const detail =
    isTechnical && !debug
      ? say("error.provider_misconfigured.text")
      : (parameterText(model.parameters, texts) ??
        model.detail ??
        ownText(`error.${code}.text`, texts));
  const kept = outage ? outageText(model, texts) : undefined;
  const { label, href } = model.action ?? defaultAction(code, publicPath);
  const link = isSafeAddress(href) ? { label: say(label), href } : undefined;
  const main = html`<section class="card">
    <div class="emblem">${outage ? PAUSE : NOTICE}</div>
    <h1>${title}</h1>
    ${detail === undefined ? undefined : isEnglish ? html`<p lang="en" dir="ltr">${detail}</p>` : html`<p>${detail}</p>`}
    ${model.validOptions && optionList(model.validOptions)} ${kept && html`<p>${kept}</p>`}
    ${link && html`<p class="actions"><a class="button" href="${link.href}">${link.label}</a></p>`}
    <p class="code">${say("error.code", { status })} <code>${code}</code></p>
  </section>`;
  return {
    kind: "error",
    status,
    title,
    heading: title,
    texts: [detail, kept].filter((text) => text !== undefined),
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

function defaultAction(code: ErrorCode, publicPath: string): Action {
  if (code === "login_link_invalid" || code === "sign_in_refused")
    return { label: "action.startAgain", href: `${publicPath}login/` };
  if (isOutage(code)) return { label: "action.tryAgain", href: "" };
  if (code === "prefetch_refused") return { label: "action.continue", href: "" };
  // The user is signed in. That page also offers another account.
  if (code === "forbidden") return { label: "action.showAccount", href: publicPath };
  return { label: "action.signInPage", href: publicPath };
}

/** What a user needs to know in an outage. Only a browser that has a session can be signed in. */
function outageText(
  { code, retryAfter, isStranger = false }: ErrorModel,
  { say, duration }: Texts,
): string | undefined {
  const kept = isStranger ? [] : [say("error.signedIn")];
  const retry =
    retryAfter !== undefined
      ? say("error.retry", { duration: duration(Math.max(1, Math.ceil(retryAfter))) })
      : say("error.later");
  const texts = code === "provider_misconfigured" ? kept : [...kept, retry];
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
