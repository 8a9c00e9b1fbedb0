/** What an event has besides its data. */
interface EventOptions {
  /** Its name, for `addEventListener` in the page. Default: `message`. */
  readonly event?: string;
  /** The browser sends the newest one as `Last-Event-ID` when it connects again. */
  readonly id?: string;
  /** Milliseconds after which the browser connects again. */
  readonly retry?: number;
}

/** An event stream to one browser. It ends with the user's session. */
export interface EventStream {
  /**
   * Sends an event. It can be passed on without its object.
   *
   * @param data a string as it is, anything else as JSON
   * @returns false if the event was dropped: the stream has closed, or the browser doesn't read and
   *   64 KiB wait for it already
   * @throws TypeError a value that an event can't have, or the event name `ended`, which is
   *   idpauth's own
   */
  readonly send: (data: unknown, options?: EventOptions) => boolean;
  /**
   * Aborts once the stream has closed, for whatever reason, and not before the caller of
   * `eventStream` could add a listener. Its `reason` is a `SessionEndedError` if the session has
   * ended or the process stops.
   */
  readonly signal: AbortSignal;
  /** Closes the stream without an event, so the browser connects again unless the page closes it. */
  readonly close: () => void;
}
