import { ERRORS, type ErrorCode } from "../errors.js";
import { counted } from "./duration.js";
import { html, type Markup } from "./html.js";
import { NOTICE, PAUSE } from "./icons.js";
import { layout } from "./layout.js";

export interface ErrorModel {
  /** Begins and ends with a slash. */
  readonly publicPath: string;
  readonly code: ErrorCode;
  /** Default: the code's status in the table of errors. */
  readonly status?: number | undefined;
  /** Default: the code's title in the table of errors. */
  readonly title?: string | undefined;
  /** It must not repeat text of the request or the provider. Default: a sentence for the code. */
  readonly detail?: string | undefined;
  /** For `invalid_parameter`: the valid values by parameter. */
  readonly validOptions?: Readonly<Record<string, readonly string[]>> | undefined;
  /** The link to continue with. An address that is neither a path nor http(s) is left out. Default: the link for the code. */
  readonly action?: Action | undefined;
  /** Seconds; the page shows them. The endpoint sets the header. */
  readonly retryAfter?: number | undefined;
}

export interface Action {
  readonly label: string;
  /** A path with one leading slash, an absolute http(s) URL, or empty for the current address. */
  readonly href: string;
}

const DETAILS: Partial<Record<ErrorCode, string>> = {
  invalid_parameter: "A part of the address has an invalid value.",
  login_link_invalid: "The link was already used, has expired, or belongs to another browser. Nothing has changed. You can start again.",
  sign_in_refused: "The identity provider's response could not be accepted, so you are not signed in.",
  provider_misconfigured:
    "The operators of this site can see the cause in the site's log. Trying again does not help until they have corrected it.",
  provider_unavailable: "The identity provider, which checks who you are, does not respond. Such an outage is usually short.",
  store_unavailable: "The session store of this site does not respond. Such an outage is usually short.",
  session_missing: "This site could not find out whether you are signed in.",
  sign_in_denied: "You have signed in at the identity provider, but this application does not admit your account.",
  claims_rejected:
    "The identity provider did not say everything about you that this application needs. Its operators can see what is missing.",
  step_up_failed: "This page requires a recent or a stronger sign-in by the same person. You are still signed in as before.",
  forbidden: "You are signed in, but your account does not have the right to open this page.",
  hook_failed: "This application could not decide about your sign-in. This usually takes only a moment.",
  not_found: "The address may be mistyped, or the page has moved.",
  method_not_allowed: "You can open this address, but not send data to it.",
  prefetch_refused: "Your browser requested this page before you clicked. Nothing has happened yet.",
};

/** The codes after which the user's session is unchanged; the page says so. */
const OUTAGES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "provider_unavailable",
  "provider_misconfigured",
  "store_unavailable",
  "session_missing",
  "hook_failed",
]);

/** The page that shows an error to a user. */
export function errorPage(model: ErrorModel): string {
  const { publicPath, code } = model;
  const title = model.title ?? ERRORS[code].title;
  const status = model.status ?? ERRORS[code].status;
  const outage = OUTAGES.has(code);
  const detail = model.detail ?? DETAILS[code];
  const action = model.action ?? defaultAction(code, publicPath);
  const main = html`<section class="card">
    <div class="emblem">${outage ? PAUSE : NOTICE}</div>
    <h1>${title}</h1>
    ${detail === undefined ? undefined : html`<p>${detail}</p>`} ${model.validOptions && optionList(model.validOptions)}
    ${outage ? html`<p>You have not been signed out.${code === "provider_misconfigured" ? undefined : retryHint(model.retryAfter)}</p>` : undefined}
    ${isSafeAddress(action.href) ? html`<p class="actions"><a class="button" href="${action.href}">${action.label}</a></p>` : undefined}
    <p class="code">Error ${status} <code>${code}</code></p>
  </section>`;
  return layout({ publicPath, title, main });
}

function defaultAction(code: ErrorCode, publicPath: string): Action {
  if (code === "login_link_invalid" || code === "sign_in_refused" || code === "sign_in_denied" || code === "claims_rejected")
    return { label: "Start again", href: `${publicPath}login/` };
  if (OUTAGES.has(code)) return { label: "Try again", href: "" };
  if (code === "prefetch_refused") return { label: "Continue", href: "" };
  // The user is signed in. That page also offers another account.
  if (code === "forbidden" || code === "step_up_failed") return { label: "Show my account", href: publicPath };
  return { label: "Go to the sign-in page", href: publicPath };
}

function retryHint(retryAfter: number | undefined): string | undefined {
  return retryAfter === undefined ? undefined : ` Try again in ${counted(Math.max(1, Math.ceil(retryAfter)), "second")}.`;
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

/**
 * Whether a link may lead to an address; escaping does not stop `javascript:`. `//x` and `/\x` lead to other hosts. So do a tab or a
 * line break between the two slashes, since browsers remove them.
 */
function isSafeAddress(href: string): boolean {
  return href === "" || (!/[\s\\]/.test(href) && (/^\/(?!\/)/.test(href) || /^https?:\/\//i.test(href)));
}
