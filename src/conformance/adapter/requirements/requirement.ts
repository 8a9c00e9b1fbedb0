import type { AdapterFeature } from "../adapter-under-test.js";
import type { ApplicationStarter } from "../application-starter.js";

/** One thing that a host owes, seen from outside. */
export interface AdapterRequirement {
  /** What it is about: `trip`, `login`, `guard`, … */
  readonly area: string;
  /** What it owes. Unique within its area; not renamed without need, since reports name it. */
  readonly title: string;
  /** Without it, the requirement is not checked. */
  readonly needs?: AdapterFeature;
  /** Only with this kind of session. Default: with both. */
  readonly session?: "bundled" | "host";
  /** Rejects when the host breaks it. */
  check(starter: ApplicationStarter): Promise<void>;
}
