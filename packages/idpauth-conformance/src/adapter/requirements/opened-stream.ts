import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { CookieBrowser } from "idpauth/testing";
import type { StartedApplication } from "../application-starter.js";
import { withinLimit } from "./time-limit.js";

/** A response that stays open, read as it arrives. */
export class OpenedStream {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly #message: IncomingMessage;
  #text = "";

  private constructor(message: IncomingMessage) {
    this.#message = message;
    this.status = message.statusCode ?? 0;
    this.headers = message.headers;
    message.setEncoding("utf8").on("data", (text: string) => (this.#text += text));
    // A connection that closes in the middle is also an error. `ended` tells it.
    message.on("error", () => undefined);
  }

  /**
   * Requests a path with the browser's cookies, as a page of the application does. Resolves when
   * the head has arrived.
   */
  static async open(
    app: StartedApplication,
    browser: CookieBrowser,
    path: string,
  ): Promise<OpenedStream> {
    const cookie = browser.cookies.header(new URL(path, app.origin)) ?? "";
    const headers = { cookie, accept: "text/event-stream", "sec-fetch-site": "same-origin" };
    const outgoing = httpRequest({
      host: "127.0.0.1",
      port: app.port,
      path,
      headers,
      agent: false,
    }).end();
    const [message] = (await withinLimit(
      once(outgoing, "response"),
      `the head of ${path} does not arrive`,
    )) as [IncomingMessage];
    return new OpenedStream(message);
  }

  /** Everything that has arrived. */
  get text(): string {
    return this.#text;
  }

  /** Resolves when the text ends with these characters. */
  async until(expected: string): Promise<void> {
    while (!this.#text.endsWith(expected)) {
      const more = Promise.race([once(this.#message, "data"), once(this.#message, "close")]);
      await withinLimit(
        more,
        `${JSON.stringify(expected)} does not arrive after ${JSON.stringify(this.#text)}`,
      );
      if (!this.#text.endsWith(expected))
        assert.ok(
          !this.#message.destroyed,
          `the stream has closed after ${JSON.stringify(this.#text)}`,
        );
    }
  }

  /** Resolves when the response has ended. @returns whether it is complete */
  async ended(): Promise<boolean> {
    if (!this.#message.destroyed)
      await withinLimit(once(this.#message, "close"), "the stream does not close");
    return this.#message.complete;
  }

  /** Reads nothing more, until `resume`. */
  pause(): void {
    this.#message.pause();
  }

  resume(): void {
    this.#message.resume();
  }

  /** Closes the connection, as a browser that leaves the page. */
  leave(): void {
    this.#message.destroy();
  }
}
