// The public origin of an application with one or two processes. It passes on the bytes of each
// connection, to the processes in turn.
import { connect, createServer } from "node:net";

export async function startFront() {
  /** @type {number[]} */
  let ports = [];
  let turn = 0;
  const sockets = new Set();
  const server = createServer({ pauseOnConnect: true }, (browser) => {
    const process = connect(ports[turn++ % ports.length], "127.0.0.1");
    for (const [socket, other] of [
      [browser, process],
      [process, browser],
    ]) {
      sockets.add(socket);
      socket.on("error", () => other.destroy()).on("close", () => other.destroy());
      socket.on("close", () => sockets.delete(socket));
    }
    browser.pipe(process);
    process.pipe(browser);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    /** @param {readonly number[]} chosen of the processes that get the next connections */
    to(...chosen) {
      ports = chosen;
    },
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
