import type { SessionState } from "../session-state.js";

/** What the warning shows: nothing, the limit that comes first, an outage, or the end. */
export type WarningView =
  | { readonly kind: "none" }
  | { readonly kind: "idle" | "limit"; readonly seconds: number }
  | { readonly kind: "unavailable" }
  | { readonly kind: "ended" | "signedOut" };

/** A view in which the panel is visible. */
export type ShownView = Exclude<WarningView, { kind: "none" }>;

/** What a view depends on, beside the state of the session. */
export interface ViewConditions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Seconds before the end of the session. */
  readonly before: number;
  /** Whether a user has been signed in on this page. Else nothing has ended here. */
  readonly wasSignedIn: boolean;
}

export function viewOf(
  { status, deadlines, reason }: SessionState<object>,
  { now, before, wasSignedIn }: ViewConditions,
): WarningView {
  if (status === "signed-out" && wasSignedIn)
    return { kind: reason === "logout" ? "signedOut" : "ended" };
  const { idle, end } = deadlines ?? {};
  if (!end || end - now > before * 1000) return { kind: "none" };
  if (status === "unavailable") return { kind: status };
  return {
    kind: idle === end ? "idle" : "limit",
    seconds: Math.max(0, Math.ceil((end - now) / 1000)),
  };
}

/** Seconds before the end at which screen readers say once more how much time is left. */
const REMINDERS_SECONDS = [60, 30, 10];

/** Returns a text that changes whenever screen readers are to say something. */
export function momentOf(view: WarningView): string {
  const passed =
    "seconds" in view ? REMINDERS_SECONDS.filter((mark) => view.seconds <= mark).length : 0;
  return `${view.kind} ${passed}`;
}
