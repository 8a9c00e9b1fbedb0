import { SIGN_IN_ERRORS } from "../record/sign-in-errors.js";
import { html, NOTICE, PERSON } from "./html.js";
import type { PageContent } from "./page-description.js";
import { ownText, type Texts } from "./texts.js";

export interface PopupModel {
  /** Undefined: an outage hides it. */
  readonly isSignedIn: boolean | undefined;
  /** The code with which the login failed, as the query has it; undefined: it didn't fail. */
  readonly failure?: string | undefined;
  /** The address of another login in this window. */
  readonly loginHref: string;
  /** The application, for a user whose other window is gone. */
  readonly homeHref: string;
}

/** The page on which a login in a popup ends. */
export function popupPage(model: PopupModel, texts: Texts): PageContent {
  const { isSignedIn, failure, loginHref, homeHref } = model;
  const { say } = texts;
  const isDone = isSignedIn && failure === undefined;
  const failed = say("signIn.failed");
  const state = isSignedIn ? "signedIn" : "signedOut";
  const isKnown = isSignedIn !== undefined;
  const heading = isKnown ? say(`${state}.heading`) : failed;
  const why = failure === undefined ? undefined : reasonOf(failure, texts);
  const sentences = [isDone ? say("popup.close") : isKnown ? failed : undefined, why].filter(
    (sentence) => sentence !== undefined,
  );
  const action = isDone
    ? { label: say("popup.stay"), href: homeHref }
    : { label: say(failure === undefined ? "action.signIn" : "action.tryAgain"), href: loginHref };
  const main = html`<section class="card">
    <div class="emblem">${isDone ? PERSON : NOTICE}</div>
    <h1>${heading}</h1>
    ${sentences.map((sentence) => html`<p>${sentence}</p>`)}
    <p class="actions">
      <a class="button${isDone ? " quiet" : ""}" href="${action.href}">${action.label}</a>
    </p>
  </section>`;
  return {
    kind: "popup",
    status: 200,
    title: isKnown ? say(`${state}.title`) : failed,
    heading,
    texts: sentences,
    action,
    main,
    ...((isSignedIn || failure !== undefined) && { script: "popup.js" }),
  };
}

/** A sentence of a fixed list: the query can contain anything. */
function reasonOf(code: string, texts: Texts): string | undefined {
  const known = SIGN_IN_ERRORS.find((each) => each === code);
  return known === undefined ? ownText(`error.${code}.text`, texts) : texts.say(`signIn.${known}`);
}
