/** Work that nobody waits for but an orderly exit. */
export class Background {
  readonly #running = new Set<Promise<unknown>>();

  /** How much is under way. */
  get size(): number {
    return this.#running.size;
  }

  /** Takes note of work that goes on by itself. Its failure is nobody's. */
  add(work: Promise<unknown>): void {
    const settled = work.catch(() => undefined).finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  }

  /** Resolves when all that is under way now is over; more may have come by then. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
