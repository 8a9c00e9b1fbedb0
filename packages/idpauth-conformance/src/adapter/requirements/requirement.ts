import type { AdapterFeature } from "../adapter-under-test.js";
import type { ApplicationStarter } from "../application-starter.js";

export const HOUR_MS = 3_600_000;

/** One rule that an application with idpauth follows, as its users see it. */
export interface AdapterRequirement {
  /** The subject: `trip`, `login`, `guard`, … */
  readonly area: string;
  /**
   * The rule. Unique within its area. Reports name the requirement by area and title, so keep both
   * stable.
   */
  readonly title: string;
  /** The feature that the check uses. Without the feature, the requirement is not checked. */
  readonly needs?: AdapterFeature;
  /** The kind of sessions that the rule is about. Default: both. */
  readonly session?: "bundled" | "host";
  /** Rejects when the application breaks the rule. */
  check(starter: ApplicationStarter): Promise<void>;
}
