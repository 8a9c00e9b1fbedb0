import type { HostFeature } from "../adapter-under-test.js";
import type { HostStage } from "../stage.js";

/** One thing that a host owes, seen from outside. */
export interface HostObligation {
  /** What it is about: `trip`, `login`, `guard`, … */
  readonly area: string;
  /** What it owes. Unique within its area; not renamed without need, since reports name it. */
  readonly promise: string;
  /** Without it, the obligation is not checked. */
  readonly needs?: HostFeature;
  /** Only with this kind of session. Default: with both. */
  readonly session?: "bundled" | "host";
  /** Rejects when the host breaks it. */
  check(stage: HostStage): Promise<void>;
}
