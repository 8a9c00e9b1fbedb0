import { ERRORS } from "../errors.js";
import { html, PERSON } from "./html.js";
import type { PageContent } from "./page-description.js";
import { shownText } from "./person.js";
import type { Texts } from "./texts.js";

export interface OtherUserModel {
  /** The email address of the session's user, or another claim that the user recognizes. */
  readonly present: string;
  readonly other: string;
  /** The requested page. */
  readonly stayHref: string;
  /** A login as the other user. */
  readonly continueHref: string;
}

/**
 * The page on which a signed-in user decides about a login of another user that another site may
 * have started.
 */
export function otherUserPage(
  { stayHref, continueHref, ...model }: OtherUserModel,
  { say, parts }: Texts,
): PageContent {
  const present = shownText(model.present) ?? "?";
  const other = shownText(model.other) ?? "?";
  // Isolated, so that their writing direction does not affect the other text.
  const bdi = { present: html`<bdi>${present}</bdi>`, other: html`<bdi>${other}</bdi>` };
  const heading = say("otherUser.heading");
  const main = html`<section class="card">
    <div class="emblem">${PERSON}</div>
    <h1>${heading}</h1>
    <p>${parts("otherUser.text", bdi)}</p>
    <p class="actions"><a class="button" href="${stayHref}">${parts("otherUser.stay", bdi)}</a></p>
    <p class="actions">
      <a class="button quiet" href="${continueHref}">${parts("otherUser.continue", bdi)}</a>
    </p>
  </section>`;
  return {
    kind: "other-user",
    status: ERRORS.other_user_signed_in.status,
    code: "other_user_signed_in",
    title: heading,
    heading,
    texts: [say("otherUser.text", { present, other })],
    action: { label: say("otherUser.stay", { present }), href: stayHref },
    otherAction: { label: say("otherUser.continue", { other }), href: continueHref },
    main,
  };
}
