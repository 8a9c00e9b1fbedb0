// What the race's figure shows, step by step.
import { HTTP_TIMEOUT, REQUESTS, type ProcessName, type RaceEvent } from "./simulate.js";

/** What half of the requests wait for, or got. */
export type Requests = "sent" | "waiting" | "unavailable" | "succeeded" | "refused";

export type ProcessState = "idle" | "holder" | "waiting" | "dead" | "done";

/** A connection of the drawing, and where its messages go to. */
export type Message =
  | "requests>A"
  | "requests>B"
  | "A>requests"
  | "B>requests"
  | "A>store"
  | "B>store"
  | "A>provider"
  | "B>provider";

/** One picture of the race, and what has happened until then. */
export interface Frame {
  /** Seconds since the requests were sent, as text. */
  readonly time: string;
  readonly text: string;
  readonly messages: readonly Message[];
  /** Those that were sent to process A first, and those to process B. */
  readonly requests: { readonly A: Requests; readonly B: Requests };
  readonly processes: { readonly A: ProcessState; readonly B: ProcessState };
  /** How many requests each process has. */
  readonly load: { readonly A: number; readonly B: number };
  readonly lease: ProcessName | null;
  /** The number of the refresh token that the session has. */
  readonly stored: number;
  /** The number of the one that the provider accepts. Null: it has revoked them all. */
  readonly accepted: number | null;
  /** Whether the provider refuses connections. */
  readonly isDown: boolean;
  readonly tokenRequests: number;
  /** Requests that got 200. */
  readonly succeeded: number;
  readonly signedOut: number;
}

const HALF = REQUESTS / 2;

type Changes = Partial<Omit<Frame, "time">>;

const FIRST: Frame = {
  time: "0 s",
  text: "",
  messages: [],
  requests: { A: "sent", B: "sent" },
  processes: { A: "idle", B: "idle" },
  load: { A: HALF, B: HALF },
  lease: null,
  stored: 1,
  accepted: 1,
  isDown: false,
  tokenRequests: 0,
  succeeded: 0,
  signedOut: 0,
};

/** Returns the frames of a race that was played. */
export function framesOf(events: readonly RaceEvent[]): Frame[] {
  const frames: Frame[] = [];
  let now: Frame = { ...FIRST, isDown: events.some(({ kind }) => kind === "recovered") };
  for (const [index, event] of events.entries()) {
    const next = events[index + 1];
    const { text, ...changes } = changesBy(event, now, next?.kind);
    now = { ...now, ...changes, time: inSeconds(event.at) };
    if (text === undefined) continue;
    frames.push({ ...now, text });
    now = { ...now, messages: [] };
  }
  const last = frames.at(-1);
  if (last === undefined) return frames;
  return [...frames.slice(0, -1), { ...last, text: `${last.text} ${ending(last, events)}` }];
}

function changesBy(event: RaceEvent, now: Frame, next: RaceEvent["kind"] | undefined): Changes {
  switch (event.kind) {
    case "sent":
      return {
        text: `The ID token has expired, and ${String(REQUESTS)} requests of one session arrive at once, ${String(HALF)} at each process.`,
        messages: ["requests>A", "requests>B"],
      };
    case "lease":
      return leaseTaken(event.by, now);
    case "unreachable":
      return { lease: null, processes: { ...now.processes, [event.by]: "idle" } };
    case "recovered":
      return { text: `The provider is back after ${inSeconds(event.at)}.`, isDown: false };
    case "token-request":
      return { tokenRequests: now.tokenRequests + 1 };
    case "rotated":
      return {
        text: `Process ${event.by} sends a token request. The provider accepts refresh token ${String(now.stored)}, and replaces it with token ${String(now.stored + 1)}.`,
        messages: [`${event.by}>provider`],
        accepted: now.stored + 1,
      };
    case "reuse":
      return {
        text: `Process ${event.by} sends the refresh token that it knows. The provider has already replaced that token, so it revokes the session's tokens.`,
        messages: [`${event.by}>provider`],
        accepted: null,
      };
    case "token-stored":
      return {
        stored: now.accepted ?? now.stored,
        ...(next === "killed" && {
          text: `Process ${event.by} stores the new refresh token before it does anything else.`,
          messages: [`${event.by}>store`],
        }),
      };
    case "killed":
      return {
        text: `Process A is killed${deathOf(now)}. Its ${String(HALF)} requests are sent again, to process B.`,
        processes: { ...now.processes, A: "dead" },
        load: { A: 0, B: REQUESTS },
        requests: { A: "waiting", B: "waiting" },
        messages: ["requests>B"],
      };
    case "finished":
      return {
        lease: null,
        ...((now.accepted ?? 0) > 1 && {
          text: `Process ${event.by} stores the new tokens and gives the lease back.`,
          messages: [`${event.by}>store`],
          processes: { ...now.processes, [event.by]: "done" },
        }),
      };
    case "response":
      return responded(event, now, next);
  }
}

function leaseTaken(by: ProcessName, now: Frame): Changes {
  const isFirst = now.lease === null;
  // Once more, after an attempt that has failed.
  if (isFirst && now.requests.B !== "sent")
    return { lease: by, processes: { ...now.processes, [by]: "holder" } };
  return {
    text: isFirst
      ? `Process ${by} takes the lease, which is the right to refresh. Process B sees it and waits.`
      : `The lease hasn't changed for 40 s, so process ${by} takes it over.`,
    messages: isFirst ? ["A>store", "B>store"] : [`${by}>store`],
    lease: by,
    requests: { A: "waiting", B: "waiting" },
    processes: { A: isFirst ? "holder" : "dead", B: isFirst ? "waiting" : "holder" },
  };
}

/** At which step of its refresh process A is killed. */
function deathOf({ tokenRequests, stored }: Frame): string {
  if (tokenRequests === 0) return " before its token request";
  return stored === 1
    ? " before it has stored the new refresh token"
    : " before it has verified the new ID token";
}

function responded(
  { status, count }: RaceEvent & { readonly kind: "response" },
  now: Frame,
  next: RaceEvent["kind"] | undefined,
): Changes {
  if (status === 503)
    return {
      ...(now.requests.B !== "unavailable" && {
        text: `${unavailability(now)} get 503 with Retry-After, and are sent again. The user stays signed in.`,
        messages: now.isDown ? ["A>requests", "B>requests"] : ["B>requests"],
      }),
      requests: { A: "unavailable", B: "unavailable" },
    };
  const succeeded = now.succeeded + (status === 200 ? count : 0);
  const outcome = status === 200 ? "succeeded" : "refused";
  const isLast = next === undefined;
  return {
    succeeded,
    signedOut: status === 401 ? 1 : now.signedOut,
    requests: { A: outcome, B: outcome },
    ...(isLast && {
      text: status === 200 ? `All ${String(succeeded)} requests succeed.` : "The requests get 401.",
      messages: now.processes.A === "dead" ? ["B>requests"] : ["A>requests", "B>requests"],
      processes: { A: now.processes.A === "dead" ? "dead" : "done", B: "done" },
    }),
  };
}

function unavailability({ isDown }: Frame): string {
  return isDown
    ? "The provider doesn't accept connections, so the requests"
    : `Requests that have waited for ${String(HTTP_TIMEOUT)} s`;
}

function ending({ signedOut, tokenRequests }: Frame, events: readonly RaceEvent[]): string {
  if (signedOut > 0)
    return "The user has to sign in again. No client can avoid this case, because the provider and the store don't share a transaction.";
  if (!events.some((event) => event.kind === "response" && event.status === 503))
    return "Process B uses the tokens that process A has stored.";
  return tokenRequests === 1
    ? "Those that got 503 were sent again, and the user stayed signed in."
    : "The user stayed signed in, because no refresh token was sent twice.";
}

function inSeconds(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  return `${seconds < 1 ? String(Number(seconds.toFixed(2))) : seconds.toFixed(0)} s`;
}
