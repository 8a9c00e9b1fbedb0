import { choices, withShownName } from "./chooser-page.js";
import { html, NOTICE, PERSON } from "./html.js";
import type { DescribedEmailForm, DescribedProvider, PageContent } from "./page-description.js";
import type { Texts } from "./texts.js";

/** The most characters of an email address (RFC 5321, erratum 1690). */
export const MAX_EMAIL_LENGTH = 254;

export interface OrganizationModel {
  /** Begins and ends with a slash. */
  readonly publicPath: string;
  /** The parameters that the login keeps, as hidden fields. */
  readonly kept: DescribedEmailForm["fields"];
  /** The providers that users can choose without an address. */
  readonly providers: readonly DescribedProvider[];
  /** What the field shows first: the address that the user entered, or the hint of the application. */
  readonly email?: string | undefined;
  /** Whether no organization was found for that address. */
  readonly isUnknown?: boolean;
}

/**
 * Returns the page that asks for the work email address. Its form sends `email` to
 * `{publicPath}login/`. Pure.
 */
export function organizationPage(model: OrganizationModel, { say }: Texts): PageContent {
  const { publicPath, kept: fields, email, isUnknown = false } = model;
  const heading = say("organization.heading");
  const text = say("organization.text");
  const others = say("organization.others");
  const providers = model.providers.map(withShownName);
  const form: DescribedEmailForm = {
    label: say("action.continue"),
    href: `${publicPath}login/`,
    fields,
    fieldLabel: say("organization.email"),
    value: email?.slice(0, MAX_EMAIL_LENGTH),
    error: isUnknown ? say("organization.unknown") : undefined,
  };
  const main = html`<section class="card">
    <div class="emblem">${PERSON}</div>
    <h1>${heading}</h1>
    <p id="explanation">${text}</p>
    ${formOf(form)}
    ${
      providers.length > 0
        ? html`<div class="others"><h2>${others}</h2> ${choices(providers, others)}</div>`
        : undefined
    }
  </section>`;
  return {
    kind: "organization",
    status: 200,
    title: isUnknown ? say("organization.unknownTitle", { title: heading }) : heading,
    heading,
    texts: [text],
    emailForm: form,
    providers,
    main,
    forms: "to-provider",
  };
}

function formOf({ label, href, fields, fieldLabel, value, error }: DescribedEmailForm) {
  // With the focus in the field, a screen reader also reads the error that describes it.
  const state =
    error === undefined
      ? html`aria-describedby="explanation"`
      : html`aria-describedby="error explanation" aria-invalid="true" autofocus=""`;
  return html`<form class="question" method="post" action="${href}">
    ${fields.map(([name, kept]) => html`<input type="hidden" name="${name}" value="${kept}" />`)}
    <label for="email">${fieldLabel}</label>
    <input
      id="email"
      type="email"
      name="email"
      value="${value}"
      dir="ltr"
      autocomplete="email"
      inputmode="email"
      spellcheck="false"
      required=""
      maxlength="${MAX_EMAIL_LENGTH}"
      ${state}
    />
    ${error === undefined ? undefined : html`<p class="error" id="error" role="alert">${NOTICE}<span>${error}</span></p>`}
    <button class="button">${label}</button>
  </form>`;
}
