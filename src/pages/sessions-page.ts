import { roughDuration } from "./duration.js";
import { html, type Markup } from "./html.js";
import { layout } from "./layout.js";
import { shownText } from "./shown-text.js";

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
export function sessionsPage({ publicPath, sessions, now }: SessionsModel): string {
  const own = sessions.filter(({ current }) => current);
  const others = sessions.filter(({ current }) => !current);
  const shown = [...own, ...others].slice(0, MAX_SHOWN_SESSIONS);
  const hidden = sessions.length - shown.length;
  const main = html`<section class="card">
    <h1>Your sessions</h1>
    <p>You are signed in on these devices. End each session that you do not recognise.</p>
    <form class="sessions" method="post" action="${publicPath}sessions">
      <ul>
        ${shown.map((session) => item(session, publicPath, now))}
      </ul>
      ${hidden > 0 ? html`<p>${hidden} older sessions are not shown.</p>` : undefined}
      ${others.length > 0 ? html`<button class="button quiet" name="end" value="others">End all other sessions</button>` : undefined}
      <button class="button quiet" name="end" value="all">Sign out everywhere</button>
    </form>
    <nav aria-label="More">
      <ul class="links">
        <li><a href="${publicPath}">Your account</a></li>
      </ul>
    </nav>
  </section>`;
  return layout({ publicPath, title: "Your sessions", main });
}

function item({ id, loginAt, lastActive, label, current }: ShownSession, publicPath: string, now: number): Markup {
  const device = shownText(label) ?? "Unknown device";
  // The accessible name begins with the visible text, and is different for each button.
  const name = `End session: ${device}, signed in ${writtenTime(loginAt) ?? "at an unknown time"}`;
  return html`<li>
    <div>
      <p class="name"><bdi>${device}</bdi></p>
      ${current ? html`<p class="here">This session</p>` : undefined}
      <p class="when">Signed in ${time(loginAt)}</p>
      <p class="when">Last seen ${time(lastActive)}${ago(lastActive, now)}</p>
    </div>
    ${
      current
        ? html`<a href="${publicPath}logout/">Sign out</a>`
        : html`<button class="link" name="end" value="${id}" aria-label="${name}">End session</button>`
    }
  </li>`;
}

function time(at: number | null): Markup {
  const written = writtenTime(at);
  if (at === null || written === undefined) return html`at an unknown time`;
  return html`<time datetime="${new Date(at * 1000).toISOString()}">${written}</time>`;
}

/** The end of the year 9999, in epoch seconds: later times have no form of four digits. */
const LAST_TIME = 253_402_300_800;

/** "22 Nov 2026 12:10 UTC", the same in every locale. Undefined for a time that is not known or out of range. */
function writtenTime(at: number | null): string | undefined {
  if (at === null || !(at >= 0 && at < LAST_TIME)) return undefined;
  return `${new Date(at * 1000).toUTCString().slice(5, 22)} UTC`;
}

function ago(at: number | null, now: number): Markup | undefined {
  return writtenTime(at) === undefined ? undefined : html` <span>(${roughDuration(now - Number(at))} ago)</span>`;
}
