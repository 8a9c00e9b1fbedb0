import type { AdapterAuth, GuardRule, Session } from "idpauth";
import type { WebSocket } from "ws";
import { jsonAnswer, type DemoAnswer } from "./answers.js";
import type { DemoData } from "./sign-in-hook.js";

/** The accessors of any adapter. */
export type Accessors<FrameworkRequest extends object> = Pick<
  AdapterAuth<FrameworkRequest, object, DemoData>,
  | "getSession"
  | "requireSession"
  | "clientState"
  | "getCredentials"
  | "updateData"
  | "whenEnded"
  | "listSessions"
  | "endSession"
>;

/** One route of the demo; each framework puts its own guard before a guarded route. */
export interface DemoRoute<FrameworkRequest> {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** What the guard requires besides a signed-in user. Undefined: the route is public. */
  readonly guard: GuardRule<object, DemoData> | undefined;
  /** Rejections go to the framework's error handler. */
  answer(request: FrameworkRequest): DemoAnswer | Promise<DemoAnswer>;
}

/**
 * The WebSocket of the demo. Each framework checks the origin and runs its own guard before the
 * handshake.
 */
export interface DemoSocket<FrameworkRequest> extends Pick<DemoRoute<FrameworkRequest>, "path"> {
  readonly guard: GuardRule<object, DemoData>;
  /**
   * Returns the response to a request of a foreign origin. Browsers send the session cookie with a
   * WebSocket that a page of a sibling subdomain opens.
   */
  refusal(headers: {
    readonly origin?: string | undefined;
    readonly host?: string | undefined;
  }): DemoAnswer | undefined;
  /** Returns the response to a request that does not ask for a WebSocket. */
  plainAnswer(): DemoAnswer;
  opened(socket: WebSocket, request: FrameworkRequest): void;
}

export type DemoSession = Session<object, DemoData>;

/**
 * The guard accepted the user a moment ago, but the user has signed out in another tab meanwhile.
 */
export function signedOutMeanwhile(): DemoAnswer {
  return jsonAnswer(401, { error: "login_required" });
}
