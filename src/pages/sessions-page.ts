import { html, type Markup } from "./html.js";
import type { PageContent } from "./page-content.js";
import type { DescribedSession } from "./page-description.js";
import { shownText } from "./shown-text.js";
import type { Texts } from "./texts.js";

/** A session of the user, as the page shows it. Times in epoch seconds. */
export interface ShownSession {
  /** The value that ends it: `end=<id>`. */
  readonly id: string;
  /** Null: not known. */
  readonly loginAt: number | null;
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
  /** Epoch seconds. */
  readonly now: number;
}

/** The number of sessions that the page lists. The page only counts the others. */
export const MAX_SHOWN_SESSIONS = 100;

/** Returns the page on which users see their sessions and end them. Its buttons send `end` to `{publicPath}sessions`. Pure. */
export function sessionsPage({ publicPath, sessions, now }: SessionsModel, texts: Texts): PageContent {
  const { say } = texts;
  const own = sessions.filter(({ current }) => current);
  const others = sessions.filter(({ current }) => !current);
  const shown = [...own, ...others].slice(0, MAX_SHOWN_SESSIONS);
  const hidden = sessions.length - shown.length;
  const title = say("sessions.title");
  const main = html`<section class="card">
    <h1>${title}</h1>
    <p>${say("sessions.text")}</p>
    <form class="sessions" method="post" action="${publicPath}sessions">
      <ul>
        ${shown.map((session) => item(session, publicPath, now, texts))}
      </ul>
      ${hidden > 0 ? html`<p>${say("sessions.hidden", { count: hidden })}</p>` : undefined}
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
    kind: "sessions",
    status: 200,
    title,
    heading: title,
    texts: [say("sessions.text"), ...(hidden > 0 ? [say("sessions.hidden", { count: hidden })] : [])],
    sessions: shown.map((session) => described(session, now, texts)),
    main,
    forms: true,
  };
}

function described({ id, loginAt, lastActive, label, current }: ShownSession, now: number, texts: Texts): DescribedSession {
  const { say } = texts;
  const at = (time: number | null) => writtenTime(time, texts) ?? say("time.unknown");
  return {
    id,
    device: deviceOf(label, texts),
    signedIn: say("sessions.signedIn", { time: at(loginAt) }),
    lastSeen: [say("sessions.lastSeen", { time: at(lastActive) }), ago(lastActive, now, texts)].filter(Boolean).join(" "),
    current,
  };
}

function deviceOf(label: string | null, { say }: Texts): string {
  return shownText(label) ?? say("sessions.unknownDevice");
}

function item({ id, loginAt, lastActive, label, current }: ShownSession, publicPath: string, now: number, texts: Texts): Markup {
  const { say, parts } = texts;
  const device = deviceOf(label, texts);
  const passed = ago(lastActive, now, texts);
  // The accessible name begins with the visible text, and is different for each button.
  const name = say("sessions.endNamed", { device, time: writtenTime(loginAt, texts) ?? say("time.unknown") });
  return html`<li>
    <div>
      <p class="name"><bdi>${device}</bdi></p>
      ${current ? html`<p class="here">${say("sessions.current")}</p>` : undefined}
      <p class="when">${parts("sessions.signedIn", { time: time(loginAt, texts) })}</p>
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

function time(at: number | null, texts: Texts): Markup {
  const written = writtenTime(at, texts);
  if (at === null || written === undefined) return html`${texts.say("time.unknown")}`;
  return html`<time datetime="${new Date(at * 1000).toISOString()}">${written}</time>`;
}

/** The end of the year 9999, in epoch seconds: later times have no form of four digits. */
const LAST_TIME = 253_402_300_800;

/** A time in words, in UTC. Undefined for a time that is not known or out of range. */
function writtenTime(at: number | null, texts: Texts): string | undefined {
  return at === null || !(at >= 0 && at < LAST_TIME) ? undefined : texts.time(at);
}

/** "(2 hours ago)"; undefined for a time that is not known. */
function ago(at: number | null, now: number, texts: Texts): string | undefined {
  return writtenTime(at, texts) === undefined ? undefined : `(${texts.ago(now - Number(at))})`;
}
