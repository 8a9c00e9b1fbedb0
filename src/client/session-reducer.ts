/**
 * What a tab knows of the session, and what each event makes of it: one function for each event.
 * They are pure. `session.ts` keeps the tab, and does what a step says.
 */
import type { EndReason } from "../record/end-reason.js";
import { isSame, signedOut } from "./make-session-state.js";
import type { SessionState } from "./session-state.js";
import type { Hint } from "./tab-messages.js";

/** A request for the session's state. The same object until its response arrives. */
export interface Probe {
  /** Whether it counts as activity of the user. */
  readonly slide?: boolean | undefined;
  /** Whether another tab's hint is the reason for it. */
  readonly isHinted?: boolean;
}

/** What one tab knows. */
export interface TabState {
  /** What the application sees: the same object until something changes. */
  readonly session: SessionState<object>;
  /**
   * The account of the last user of this page, who may have signed out; null if the page knew none.
   */
  readonly account: string | null;
  /** The provider of that user's session; null if no login can go there. */
  readonly provider: string | null;
  /** A number that each probe and each end of the session changes. */
  readonly generation: number;
  /** When the server, or another tab, last said what the state is. 0: never. */
  readonly heardAt: number;
  /** The probe that is under way. The response to another one comes too late. */
  readonly probe?: Probe | undefined;
  /** Whether this page signs out, and the server hasn't confirmed it yet. */
  readonly isLeaving: boolean;
  /** Whether the user has signed out in a tab, and nobody has signed in since. */
  readonly left?: boolean | undefined;
}

/** The tab after an event, and what is to be done. The listeners get a `session` that is new. */
export interface Step extends TabState {
  /** What to post to the other tabs. */
  readonly tell?: Hint | undefined;
}

/** Returns what an event makes of a tab. Its other parameters describe the event. */
export type TabEvent<Payload extends readonly unknown[]> = (
  tab: TabState,
  ...payload: Payload
) => Step;

/** This probe is sent, or none: from now on the response to an earlier one changes nothing. */
export function superseded(tab: TabState, probe?: Probe): Step {
  return { ...tab, generation: tab.generation + 1, probe };
}

/**
 * A probe has ended.
 *
 * @param result as `requestState` returns it: a number if the server did not respond as a probe does
 */
export function responded(
  tab: TabState,
  probe: Probe,
  result: SessionState<object> | number,
): Step {
  if (probe !== tab.probe) return tab;
  const idle = { ...tab, probe: undefined };
  if (typeof result === "number")
    return changed(idle, { ...tab.session, status: "unavailable", reason: null });
  const { account } = result;
  const isGone = !account && tab.isLeaving;
  const left = !account && (tab.left || isGone);
  // The browser is on its way to another page, so this page keeps its state.
  const next = isGone ? { ...idle, isLeaving: false } : changed(idle, explained(result, left));
  // The first probe of a page cannot know whether the state of the other tabs has changed.
  const isNews = tab.heardAt ? next.session !== tab.session : undefined;
  // The other tabs have the same hint, unless only this page knows that the user has signed out.
  const isToldAlready = probe.isHinted && !isGone;
  return {
    ...next,
    left,
    tell: isToldAlready ? undefined : { left, account, changed: isGone || isNews },
  };
}

/** A response other than a probe's says that the user is signed out. */
export function ended(tab: TabState, reason: EndReason | null | undefined): Step {
  const { left, session } = tab;
  const isKnown = session.status === "signed-out";
  // A new object also if the user was signed out already: one more request waits.
  const out = isKnown ? { ...session } : signedOut(reason);
  const next = withSession(superseded(tab), explained(out, left));
  return isKnown ? next : { ...next, tell: { left, account: null, changed: true } };
}

/** This page begins to sign out. */
export function leaving(tab: TabState): Step {
  return { ...superseded(tab), isLeaving: true };
}

/** The browser leaves this page, which signs out. */
export function departed(tab: TabState): Step {
  return { ...tab, left: true, tell: { left: true, account: null, changed: true } };
}

/** The server, or another tab, has said what the state is. @param now in milliseconds */
export function heard(tab: TabState, now: number): Step {
  return { ...tab, heardAt: now };
}

/** Another tab has posted something. Only a probe can confirm what it says of the session. */
export function hinted(tab: TabState, { left }: Hint): Step {
  return { ...tab, left: tab.left || left };
}

/** The server knows that there is no session, and not why. @param left as of a tab */
function explained(session: SessionState<object>, left?: boolean): SessionState<object> {
  return left && session.reason === "no_credentials" ? { ...session, reason: "logout" } : session;
}

function changed(tab: TabState, session: SessionState<object>): TabState {
  return isSame(session, tab.session) ? tab : withSession(tab, session);
}

function withSession(tab: TabState, session: SessionState<object>): TabState {
  return {
    ...tab,
    session: Object.freeze(session),
    account: session.account ?? tab.account,
    provider: session.reason === "provider_removed" ? null : (session.provider ?? tab.provider),
  };
}
