import { deviceOf } from "../record/device.js";
import type { UserPayload } from "../record/identity.js";
import { withoutUndefined } from "../record/without-undefined.js";
import { html, type Markup } from "./html.js";
import type { PageContent, DescribedSession } from "./page-description.js";
import { shownText } from "./person.js";
import type { Texts } from "./texts.js";

/** A session of the user, as the page shows it. Times in epoch seconds. */
export interface ShownSession {
  /** The value that ends it: `end=<id>`. */
  readonly id: string;
  /** Null: not known. */
  readonly signedInAt: number | null;
  /** Null: not known. */
  readonly lastActive: number | null;
  /** Null or empty: "Unknown device". */
  readonly label: string | null;
  /** Whether it is the session of this browser. */
  readonly current: boolean;
}

export interface SessionsModel {
  /** Begins and ends with a slash. */
  readonly publicPath: string;
  readonly sessions: readonly ShownSession[];
  /** Whether there are more sessions than these. */
  readonly hasMore?: boolean;
  /** The name of the provider that all of them are of, if the application has several. */
  readonly provider?: string | undefined;
  /** For `pages.render`. */
  readonly user?: UserPayload | undefined;
  /** Whether a logout goes on at the provider. */
  readonly leadsToProvider?: boolean;
  /** Epoch seconds. */
  readonly now: number;
}

/** The number of sessions that the page lists. */
export const MAX_SHOWN_SESSIONS = 100;

/**
 * Returns the page on which users see their sessions and end them. Its buttons send `end` to
 * `{publicPath}sessions`. Pure.
 */
export function sessionsPage(model: SessionsModel, texts: Texts): PageContent {
  const { publicPath, sessions, provider, user, now, leadsToProvider } = model;
  const { say, parts } = texts;
  const others = sessions.filter(({ current }) => !current);
  const shown = [...sessions.filter(({ current }) => current), ...others].slice(
    0,
    MAX_SHOWN_SESSIONS,
  );
  const hidden = hiddenText(model, texts);
  const title = say("sessions.title");
  const at = shownText(provider ?? null);
  const main = html`<section class="card">
    <h1>${title}</h1>
    <p>${at === undefined ? say("sessions.text") : parts("sessions.textOfProvider", { provider: html`<bdi>${at}</bdi>` })}</p>
    <form class="sessions" method="post" action="${publicPath}sessions">
      <ul>
        ${shown.map((session) => item(session, model, texts))}
      </ul>
      ${hidden && html`<p>${hidden}</p>`}
      ${others.length > 0 ? html`<button class="button quiet" name="end" value="others">${say("sessions.endOthers")}</button>` : undefined}
      <button class="button quiet" name="end" value="all">${say("sessions.endAll")}</button>
    </form>
    <nav aria-label="${say("nav.more")}">
      <ul class="links">
        <li><a href="${publicPath}">${say("sessions.account")}</a></li>
      </ul>
    </nav>
  </section>`;
  return {
    user,
    kind: "sessions",
    status: 200,
    title,
    heading: title,
    texts: [
      at === undefined ? say("sessions.text") : say("sessions.textOfProvider", { provider: at }),
      hidden,
    ].filter((text) => text !== undefined),
    sessions: shown.map((session) => described(session, now, texts)),
    main,
    forms: leadsToProvider ? "to-provider" : "own",
    script: "times.js",
  };
}

/** What the page says of sessions that it does not list. */
function hiddenText({ sessions, hasMore }: SessionsModel, { say }: Texts): string | undefined {
  if (hasMore) return say("sessions.more");
  const count = sessions.length - MAX_SHOWN_SESSIONS;
  return count > 0 ? say("sessions.hidden", { count }) : undefined;
}

function described(
  { id, signedInAt, lastActive, label, current }: ShownSession,
  now: number,
  texts: Texts,
): DescribedSession {
  const { say } = texts;
  return {
    id,
    device: deviceIn(label, texts).text,
    signedIn: say("sessions.signedIn", { time: inWords(signedInAt, texts) }),
    lastSeen: [
      say("sessions.lastSeen", { time: inWords(lastActive, texts) }),
      ago(lastActive, now, texts),
    ]
      .filter(Boolean)
      .join(" "),
    ...withoutUndefined({ signedInAt: instantOf(signedInAt), lastActive: instantOf(lastActive) }),
    current,
  };
}

function item(
  { id, signedInAt, lastActive, label, current }: ShownSession,
  { publicPath, now }: SessionsModel,
  texts: Texts,
): Markup {
  const { say, parts } = texts;
  const { text: device, direction } = deviceIn(label, texts);
  const passed = ago(lastActive, now, texts);
  // The accessible name begins with the visible text, and is different for each button.
  const name = say("sessions.endNamed", { device, time: inWords(signedInAt, texts) });
  return html`<li>
    <div>
      <p class="name"><bdi dir="${direction}">${device}</bdi></p>
      ${current ? html`<p class="here">${say("sessions.current")}</p>` : undefined}
      <p class="when">${parts("sessions.signedIn", { time: time(signedInAt, texts) })}</p>
      <p class="when">
        ${parts("sessions.lastSeen", { time: time(lastActive, texts) })}${passed === undefined ? undefined : html` <span>${passed}</span>`}
      </p>
    </div>
    ${
      current
        ? html`<a href="${publicPath}logout/">${say("action.signOut")}</a>`
        : html`<button class="link" name="end" value="${id}" aria-label="${name}">${say("sessions.end")}</button>`
    }
  </li>`;
}

/** What the page calls a session. A text of the page has its direction, a label its own. */
function deviceIn(label: string | null, { say, direction }: Texts) {
  const shown = shownText(label);
  if (shown === undefined) return { text: say("sessions.unknownDevice"), direction };
  const device = deviceOf(shown);
  return device === undefined
    ? { text: shown, direction: "auto" }
    : { text: say("sessions.device", device), direction };
}

/** A time in UTC. The page's script writes it in the reader's zone, by the locale in `lang`. */
function time(at: number | null, texts: Texts): Markup {
  const words = inWords(at, texts);
  const instant = instantOf(at);
  return instant === undefined
    ? html`${words}`
    : html`<time datetime="${instant}" lang="${texts.formats}">${words}</time>`;
}

/** A time by ISO 8601; undefined for a time that is not known. */
function instantOf(at: number | null): string | undefined {
  return isKnown(at) ? new Date(at * 1000).toISOString() : undefined;
}

/** A time in UTC. */
function inWords(at: number | null, { say, time }: Texts): string {
  return isKnown(at) ? time(at) : say("time.unknown");
}

/** "(2 hours ago)"; undefined for a time that is not known. */
function ago(at: number | null, now: number, texts: Texts): string | undefined {
  return isKnown(at) ? `(${texts.ago(now - at)})` : undefined;
}

/** The end of the year 9999, in epoch seconds: later times have no form of four digits. */
const LAST_TIME_SECONDS = 253_402_300_800;

function isKnown(at: number | null): at is number {
  return at !== null && at >= 0 && at < LAST_TIME_SECONDS;
}
