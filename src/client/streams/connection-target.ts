type Handler = ((event: Event) => unknown) | null;

/** A target of events that calls its handlers, such as `onopen`, as its listeners. */
export class ConnectionTarget extends EventTarget {
  constructor(...types: readonly string[]) {
    super();
    for (const type of types)
      this.addEventListener(type, (event) => {
        (this as unknown as Record<string, Handler>)[`on${type}`]?.(event);
      });
  }
}
