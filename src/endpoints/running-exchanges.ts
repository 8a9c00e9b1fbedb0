/** The codes that this process exchanges now. */
export class RunningExchanges {
  readonly #ends = new Map<string, Promise<void>>();

  /** @returns a function that ends it */
  begin(sessionKey: string, stateHash: string): () => void {
    const id = `${sessionKey} ${stateHash}`;
    let end = () => {};
    this.#ends.set(id, new Promise((resolve) => (end = resolve)));
    return () => {
      this.#ends.delete(id);
      end();
    };
  }

  /** Resolves when the exchange has ended. Undefined: this process doesn't run it. */
  endOf(sessionKey: string, stateHash: string): Promise<void> | undefined {
    return this.#ends.get(`${sessionKey} ${stateHash}`);
  }
}
