import { connect, type Socket } from "node:net";

/** A connection on which a test writes each byte itself. */
export class Connection {
  readonly socket: Socket;
  #received = "";

  constructor(port: number) {
    this.socket = connect({ host: "127.0.0.1", port });
    this.socket.setEncoding("latin1").on("data", (text: string) => (this.#received += text));
  }

  write(text: string): void {
    this.socket.write(text);
  }

  /** The next response. It must have a Content-Length. */
  async response(): Promise<{ readonly status: number; readonly text: string }> {
    for (;;) {
      const end = this.#received.indexOf("\r\n\r\n");
      if (end >= 0) {
        const head = this.#received.slice(0, end);
        const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
        const rest = this.#received.slice(end + 4);
        if (rest.length >= length) {
          this.#received = rest.slice(length);
          return { status: Number(head.split(" ", 2)[1]), text: rest.slice(0, length) };
        }
      }
      await this.#more();
    }
  }

  #more(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.socket.destroyed || this.socket.readableEnded)
        reject(new Error(`The connection has ended after: ${this.#received}`));
      this.socket.once("data", () => {
        resolve();
      });
      this.socket.once("end", () => {
        reject(new Error(`The connection has ended after: ${this.#received}`));
      });
    });
  }

  end(): void {
    this.socket.destroy();
  }
}
