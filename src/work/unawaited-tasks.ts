/** Tasks that no response waits for, such as revocations. A shutdown waits for them. */
export class UnawaitedTasks {
  readonly #running = new Set<Promise<unknown>>();

  get size(): number {
    return this.#running.size;
  }

  /** Remembers a task until it settles. Rejections are ignored. */
  add(task: Promise<unknown>): void {
    const settled = task.catch(() => undefined).finally(() => this.#running.delete(settled));
    this.#running.add(settled);
  }

  /** Resolves when every task of now has settled. Others may have been added by then. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }
}
