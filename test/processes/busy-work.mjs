/** Counts what is under way, so that a process can end without leaving work half done. */
export class BusyWork {
  #underWay = 0;
  #lastChange = 0;

  /**
   * @template Result
   * @param {() => Promise<Result>} work
   */
  async during(work) {
    this.#change(1);
    try {
      return await work();
    } finally {
      this.#change(-1);
    }
  }

  /**
   * Resolves when nothing has been under way for that long: between two steps of a refresh, some code runs that is neither.
   *
   * @param {number} milliseconds
   */
  async quiet(milliseconds) {
    while (this.#underWay > 0 || performance.now() - this.#lastChange < milliseconds)
      await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** @param {number} by */
  #change(by) {
    this.#underWay += by;
    this.#lastChange = performance.now();
  }
}
