/** Milliseconds for which a replaced key is remembered: longer than a callback or a refresh can be in flight. */
const REMEMBERED = 60_000;
const MAX_KEYS = 1_000;

/**
 * Session keys that a sign-in of this process has replaced a moment ago. It tells a callback or a refresh whose session
 * has gone meanwhile that the visitor signed in from another tab, and did not sign out.
 */
export class ReplacedKeys {
  /** To the clock's `monotonic()` when it was replaced; oldest first. */
  readonly #replacedAt = new Map<string, number>();

  add(key: string, now: number): void {
    this.#replacedAt.set(key, now);
    for (const [oldest, replacedAt] of this.#replacedAt) {
      if (this.#replacedAt.size <= MAX_KEYS && now - replacedAt < REMEMBERED) break;
      this.#replacedAt.delete(oldest);
    }
  }

  has(key: string, now: number): boolean {
    return now - (this.#replacedAt.get(key) ?? -Infinity) < REMEMBERED;
  }
}
