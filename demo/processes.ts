import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

export interface ProcessState {
  readonly name: string;
  /** Undefined while it starts. */
  readonly pid: number | undefined;
  readonly isRunning: boolean;
}

/** The processes of the application: one, or a fleet behind a load balancer. */
export interface Processes {
  readonly states: readonly ProcessState[];
  request(request: IncomingMessage, response: ServerResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Time passes in every process. Milliseconds. */
  advance(milliseconds: number): Promise<void>;
  /** The session store fails in every process. Milliseconds. */
  failStore(milliseconds: number): Promise<void>;
  /** Ends a process as `kill -9` does. Undefined: there is only one, which can't be spared. */
  readonly kill: ((name: string) => void) | undefined;
  close(): Promise<void>;
}
