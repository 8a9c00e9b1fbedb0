// A user of the API behind the proxy: bodies of both directions, and streams that stay open while
// the user does other things.
import { Agent, request as httpRequest } from "node:http";
import { connect } from "node:net";

/** Milliseconds after a logout in which everything that the user has open must close. */
const CUT = 5_000;

/** Milliseconds that an unused connection is kept: less than the 5 s of the server. */
const IDLE_CONNECTION = 4_000;

/** The largest body, in bytes, and the longest stream, in milliseconds. */
const MOST_BYTES = 400_000;
const MOST_MILLISECONDS = 40_000;

const CHUNK = Buffer.alloc(16 * 1024, "x");

/**
 * Counts of all users: what they opened, what a logout has cut in time, and what it has not.
 *
 * @typedef {{ open: number, cut: number, late: number }} Live
 */

/**
 * @param {{ origin: string, tell: (response: { what: string, status: number, milliseconds: number, isTold: boolean }) => void, random: () => number, live: Live, cookie: () => string | undefined }}
 *   around
 */
export function createApiUser({ origin, tell, random, live, cookie }) {
  const { hostname: host, port, host: authority } = new URL(origin);
  /** Each closes one stream or WebSocket, as the user's. */
  const open = new Set();
  /** As browsers do: a server that refuses a body closes the connection of one that asks for it. */
  const kept = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION });

  function headers() {
    const value = cookie();
    return { ...(value !== undefined && { cookie: value }), "x-idpauth": "1" };
  }

  function send(path, method = "GET", agent = false) {
    return httpRequest({ host, port, path, method, agent, headers: headers() });
  }

  const bytes = () => Math.ceil(random() * MOST_BYTES);

  /**
   * Sends a request, and reads its response.
   * @param {string} what
   * @param {string} path
   * @param {number} [size] of a body
   * @param {number} [expected] bytes of the response
   */
  function exchange(what, path, size, expected) {
    const started = performance.now();
    return new Promise((resolve) => {
      const done = (status, isTold = false) => {
        tell({ what, status, milliseconds: performance.now() - started, isTold });
        resolve(undefined);
      };
      const outgoing = send(`/api/orders/${path}`, ...(size === undefined ? [] : ["POST", kept]));
      let hasResponse = false;
      outgoing.on("error", () => hasResponse || done(0));
      outgoing.on("response", (response) => {
        hasResponse = true;
        const { statusCode: status = 0 } = response;
        let received = 0;
        let last = "";
        response.on("data", (piece) => {
          received += piece.length;
          last = piece;
        });
        response.on("error", () => undefined);
        response.on("close", () => {
          const isWhole =
            response.complete &&
            (status !== 200 || expected === undefined || received === expected) &&
            (status !== 200 || size === undefined || String(last) === String(size));
          const isTold =
            status !== 503 ||
            (response.headers["retry-after"] !== undefined && String(last).includes("unavailable"));
          done(isWhole ? status : 0, isTold);
        });
      });
      if (size !== undefined) write(outgoing, size);
      else outgoing.end();
    });
  }

  function write(outgoing, size) {
    let left = size;
    const more = () => {
      for (let isFree = true; isFree && left > 0 && !outgoing.destroyed; left -= CHUNK.length)
        isFree = outgoing.write(CHUNK.subarray(0, Math.min(left, CHUNK.length)));
      if (left <= 0) outgoing.end();
    };
    outgoing.on("drain", more);
    more();
  }

  /** Sends a request, and disconnects after a while. */
  function leave(path, milliseconds, size) {
    return new Promise((resolve) => {
      const outgoing = send(path, size === undefined ? "GET" : "POST");
      outgoing.on("error", resolve);
      outgoing.on("response", (response) => response.on("error", () => undefined).resume());
      outgoing.on("close", resolve);
      if (size !== undefined) write(outgoing, size);
      else outgoing.end();
      setTimeout(() => outgoing.destroy(), milliseconds);
    });
  }

  /**
   * Keeps a connection open until the user leaves or signs out. One that ends before is told as a
   * response of 0.
   *
   * @param {string} what
   * @param {{ destroy(): unknown, once(event: "close", closed: () => void): unknown }} connection
   */
  function keep(what, connection) {
    const state = {
      mayEnd: false,
      isSignedOut: false,
      signedOutAt: Infinity,
      leave: () => undefined,
    };
    const late = setTimeout(() => state.leave(), random() * MOST_MILLISECONDS);
    state.leave = () => {
      state.mayEnd = true;
      connection.destroy();
    };
    live.open += 1;
    open.add(state);
    connection.once("close", () => {
      clearTimeout(late);
      open.delete(state);
      if (state.isSignedOut) {
        if (performance.now() - state.signedOutAt < CUT) live.cut += 1;
        else live.late += 1;
      } else if (!state.mayEnd) tell({ what, status: 0, milliseconds: 0, isTold: false });
    });
  }

  const acts = {
    items: () => exchange("items", "items"),
    download() {
      const expected = bytes();
      return exchange("download", `down/${String(expected)}`, undefined, expected);
    },
    upload: () => exchange("upload", "up", bytes()),
    leaveDownload: () => leave(`/api/orders/down/${String(100 * MOST_BYTES)}`, random() * 50),
    leaveUpload: () => leave("/api/orders/up", random() * 50, 100 * MOST_BYTES),
    events: () =>
      new Promise((resolve) => {
        const started = performance.now();
        const outgoing = send("/api/orders/events");
        const done = (status, isTold) => {
          tell({ what: "events", status, milliseconds: performance.now() - started, isTold });
          resolve(undefined);
        };
        let hasResponse = false;
        outgoing.on("error", () => hasResponse || done(0, false));
        outgoing.on("response", (response) => {
          hasResponse = true;
          const { statusCode: status = 0 } = response;
          response.on("error", () => undefined).resume();
          done(status, status !== 503 || response.headers["retry-after"] !== undefined);
          if (status === 200) keep("events that end early", response);
        });
        outgoing.end();
      }),
    webSocket: () =>
      new Promise((resolve) => {
        const started = performance.now();
        const socket = connect(Number(port), host).setEncoding("latin1");
        const lines = [
          "GET /api/orders/socket HTTP/1.1",
          `Host: ${authority}`,
          `Origin: ${origin}`,
          `Cookie: ${cookie() ?? ""}`,
          "Connection: Upgrade",
          "Upgrade: websocket",
        ];
        let received = "";
        let status = 0;
        const ends = () => {
          tell({ what: "WebSocket", status: 0, milliseconds: 0, isTold: false });
          resolve(undefined);
        };
        socket.once("close", ends);
        socket.on("error", () => undefined).on("end", () => socket.end());
        socket.on("data", (piece) => {
          if (status !== 0) return;
          received += piece;
          if (!received.includes("\r\n\r\n")) return;
          socket.off("close", ends);
          status = Number(received.split(" ", 2)[1]);
          const isTold = status !== 503 || /\r\nretry-after:/i.test(received);
          tell({ what: "WebSocket", status, milliseconds: performance.now() - started, isTold });
          if (status === 101) keepTalking(socket);
          else socket.destroy();
          resolve(undefined);
        });
        socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      }),
  };

  /** Sends something now and then, which the API echoes. */
  function keepTalking(socket) {
    const talk = setInterval(() => socket.write("x".repeat(Math.ceil(random() * 1_000))), 1_000);
    socket.once("close", () => clearInterval(talk));
    keep("a WebSocket that ends early", socket);
  }

  return {
    acts,
    leave,
    /**
     * The logout has been sent, which may cut what is open before its response arrives.
     *
     * @returns a function that takes whether the logout has succeeded. If so, everything must close
     */
    signsOut() {
      const states = [...open];
      for (const state of states) state.isSignedOut = state.mayEnd = true;
      return (isSignedOut) => {
        for (const state of states) {
          state.isSignedOut = isSignedOut;
          state.signedOutAt = performance.now();
          if (isSignedOut) setTimeout(() => open.has(state) && state.leave(), 2 * CUT).unref();
        }
      };
    },
    leaveAll() {
      for (const state of open) state.leave();
      kept.destroy();
    },
  };
}
