import { ERRORS } from "../errors.js";
import type { UserPayload } from "../record/identity.js";
import { html, PERSON } from "./html.js";
import type { DescribedForm, PageContent } from "./page-description.js";
import { shownText } from "./person.js";
import type { Texts } from "./texts.js";

export interface OtherUserModel {
  /**
   * The email address of the session's user, or another claim that the user recognizes. Empty: there
   * is none. Undefined: another site has signed the user out.
   */
  readonly present: string | undefined;
  readonly other: string;
  /** The session's user, for `pages.render`. */
  readonly user?: UserPayload | undefined;
  /** Where the user stays signed in, or the logout. */
  readonly stayHref: string;
  /** A login as the other user, which a form of this page begins. */
  readonly continueForm: Omit<DescribedForm, "label">;
}

/**
 * The page on which a user decides about a login that another site may have started: of another
 * user than the session's, or after a logout that another site started.
 */
export function otherUserPage(
  { stayHref, continueForm, ...model }: OtherUserModel,
  { say, parts }: Texts,
): PageContent {
  const present = shownText(model.present ?? "") ?? say("otherUser.unnamed");
  const other = shownText(model.other) ?? say("otherUser.unnamed");
  const isSignedOut = model.present === undefined;
  const code = isSignedOut ? "sign_in_unconfirmed" : "other_user_signed_in";
  const keys = isSignedOut
    ? ({ heading: "confirm.heading", text: "confirm.text", stay: "confirm.stay" } as const)
    : ({ heading: "otherUser.heading", text: "otherUser.text", stay: "otherUser.stay" } as const);
  // Isolated, so that their writing direction does not affect the other text.
  const bdi = { present: html`<bdi>${present}</bdi>`, other: html`<bdi>${other}</bdi>` };
  const heading = say(keys.heading);
  const main = html`<section class="card">
    <div class="emblem">${PERSON}</div>
    <h1>${heading}</h1>
    <p>${parts(keys.text, bdi)}</p>
    <p class="actions"><a class="button" href="${stayHref}">${parts(keys.stay, bdi)}</a></p>
    <form class="actions" method="post" action="${continueForm.href}">
      ${Object.entries(continueForm.fields).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      <button class="button quiet">${parts("otherUser.continue", bdi)}</button>
    </form>
  </section>`;
  return {
    kind: "other-user",
    status: ERRORS[code].status,
    code,
    user: model.user,
    title: heading,
    heading,
    texts: [say(keys.text, { present, other })],
    action: { label: say(keys.stay, { present }), href: stayHref },
    otherAction: { label: say("otherUser.continue", { other }), ...continueForm },
    main,
    forms: "to-provider",
  };
}
