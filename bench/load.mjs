// The load generator: a fixed number of keep-alive connections over plain sockets, each with one
// request at a time. It prepares every request beforehand and reads as little of each response as
// possible, so that the server is the bottleneck. It reports its own processor time to show this.
import { connect } from "node:net";
import { pin, serveCalls } from "./children.mjs";

/** name -> { port, requests } */
const targets = new Map();

function requestFor(path, cookie) {
  const lines = [
    `GET ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Accept: */*",
    "User-Agent: bench",
    ...(cookie ? [`Cookie: ${cookie}`] : []),
  ];
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

function open(port) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
    socket.once("error", reject);
  });
}

/** Passes each complete response of a connection to `onResponse`. */
function readResponses(socket, onResponse) {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.latin1Slice();
    for (;;) {
      const head = text.indexOf("\r\n\r\n");
      if (head < 0) return;
      const end = endOf(text, head);
      if (end === undefined || text.length < end) return;
      const response = text.slice(0, end);
      text = text.slice(end);
      onResponse(response);
    }
  });
}

/** Where the response ends whose header fields end at `head`; undefined: more has to come first. */
function endOf(text, head) {
  const fields = text.slice(0, head + 2);
  const length = /\r\ncontent-length: *(\d+)/i.exec(fields);
  if (length !== null) return head + 4 + Number(length[1]);
  if (!/\r\ntransfer-encoding: *chunked/i.test(fields))
    throw new Error(`a response without its length:\n${fields}`);
  for (let at = head + 4; ;) {
    const line = text.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = Number.parseInt(text.slice(at, line), 16);
    at = line + 2 + size + 2;
    if (size === 0) return at;
  }
}

/** Whether a response is the expected one. The routes of a comparison send the same JSON. */
const isGood = (response, part = '"authenticated":true') =>
  response.startsWith("HTTP/1.1 200 ") && response.includes(part);

/** name -> the connections that stay open between two turns */
const kept = new Map();

serveCalls({
  pin,

  /** Opens the connections over which a target is loaded in turns. */
  async connect({ name, connections }) {
    const { port } = targets.get(name);
    const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
    const connected = sockets.map((socket) => {
      const connection = { socket, onResponse: undefined, onClose: undefined };
      socket.on("error", () => {});
      socket.on("close", () => connection.onClose?.());
      readResponses(socket, (response) => connection.onResponse(response));
      return connection;
    });
    kept.set(name, connected);
  },

  /** Closes the connections of every target. */
  disconnect() {
    for (const { socket } of [...kept.values()].flat()) socket.destroy();
    kept.clear();
  },

  /** Sends that many requests to a target over its open connections, and waits for all responses. */
  async turn({ name, requests }) {
    const target = targets.get(name);
    let waiting = requests;
    const busy = kept.get(name).map(
      (connection) =>
        new Promise((resolve, reject) => {
          const ask = () => {
            if (waiting === 0) return resolve();
            waiting -= 1;
            target.next = (target.next + 1) % target.requests.length;
            connection.socket.write(target.requests[target.next]);
          };
          connection.onResponse = (response) => {
            if (isGood(response, target.part)) ask();
            else reject(new Error(`${name}:\n${response}`));
          };
          connection.onClose = () => reject(new Error(`${name}: the server closed a connection`));
          ask();
        }),
    );
    await Promise.all(busy);
    for (const connection of kept.get(name)) connection.onClose = undefined;
  },

  /** Prepares a target. Requests use the `cookies` in turn. Each response contains `part`. */
  target({ name, port, path, cookies, part }) {
    targets.set(name, {
      port,
      part,
      next: 0,
      requests: (cookies ?? [undefined]).map((cookie) => requestFor(path, cookie)),
    });
  },

  /** Loads one target for the given time. */
  async round({ name, connections, milliseconds }) {
    const target = targets.get(name);
    const sockets = await Promise.all(Array.from({ length: connections }, () => open(target.port)));
    let responded = 0;
    let failed = 0;
    let sample;
    let isOver = false;
    const latencies = [];
    const askedAt = new Map();
    const ask = (socket) => {
      target.next = (target.next + 1) % target.requests.length;
      askedAt.set(socket, performance.now());
      socket.write(target.requests[target.next]);
    };
    const cpuBefore = process.cpuUsage();
    const started = performance.now();
    await new Promise((resolve, reject) => {
      for (const socket of sockets) {
        socket.on("error", reject);
        socket.on("close", () => {
          if (!isOver) reject(new Error(`${name}: the server closed a connection`));
        });
        readResponses(socket, (response) => {
          if (isOver) return;
          responded += 1;
          latencies.push(performance.now() - askedAt.get(socket));
          if (!isGood(response, target.part)) {
            failed += 1;
            sample ??= response;
          }
          ask(socket);
        });
        ask(socket);
      }
      setTimeout(resolve, milliseconds);
    });
    isOver = true;
    const elapsed = performance.now() - started;
    const cpu = process.cpuUsage(cpuBefore);
    for (const socket of sockets) socket.destroy();
    latencies.sort((one, other) => one - other);
    const [p50, p99] = [0.5, 0.99].map((share) => latencies[Math.floor(latencies.length * share)]);
    return {
      responded,
      p50,
      p99,
      perSecond: (responded / elapsed) * 1000,
      failed,
      sample,
      clientCpu: (cpu.user + cpu.system) / 1000 / elapsed,
    };
  },

  /** Sends many requests at the same moment, each on its own connection. */
  async burst({ port, path, cookie, count }) {
    const sockets = await Promise.all(Array.from({ length: count }, () => open(port)));
    const request = requestFor(path, cookie);
    const started = performance.now();
    const responses = await Promise.all(
      sockets.map(
        (socket) =>
          new Promise((resolve) => {
            socket.on("error", (error) => resolve(String(error)));
            readResponses(socket, resolve);
            socket.write(request);
          }),
      ),
    );
    const elapsed = performance.now() - started;
    for (const socket of sockets) socket.destroy();
    const bad = responses.filter((response) => !isGood(response));
    return { failures: bad.length, sample: bad[0], elapsed };
  },

  /**
   * Requests all sessions at once over a number of connections. After a 503 the request is repeated
   * when Retry-After has passed. Meanwhile one connection, the bystander, requests its own session
   * again and again. Returns the results of both.
   */
  async storm({ port, path, cookies, bystander, connections }) {
    const waiting = cookies.map((cookie) => ({ request: requestFor(path, cookie), at: 0 }));
    const outcome = { asked: 0, refreshed: 0, unavailable: 0, signedOut: 0, latencies: [] };
    const started = performance.now();
    let isOver = false;

    const own = await open(port);
    const ownRequest = requestFor(path, bystander);
    const watching = new Promise((resolve, reject) => {
      let askedAt = performance.now();
      own.on("error", reject);
      readResponses(own, (response) => {
        if (!isGood(response)) reject(new Error(`the bystander got:\n${response}`));
        outcome.latencies.push(performance.now() - askedAt);
        if (isOver) return resolve();
        // The bystander is one user, so it sends about ten requests a second.
        setTimeout(() => {
          askedAt = performance.now();
          own.write(ownRequest);
        }, 5);
      });
      own.write(ownRequest);
    });

    const progress = setInterval(() => {
      const { asked, refreshed, unavailable } = outcome;
      console.error(
        `  after ${Math.round((performance.now() - started) / 1000)} s: ${refreshed} refreshed, ${unavailable} of ${asked} responses were 503`,
      );
    }, 5_000);
    const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
    const work = sockets.map(async (_, index) => {
      let responded;
      let failed;
      const listen = (socket) => {
        readResponses(socket, (response) => responded(response));
        socket.on("error", (error) => failed?.(error));
        return socket;
      };
      let socket = listen(sockets[index]);
      for (let user = waiting.pop(); user !== undefined; user = waiting.pop()) {
        const early = user.at - performance.now();
        if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
        // The server closes idle connections.
        if (socket.destroyed || socket.readableEnded)
          socket = sockets[index] = listen(await open(port));
        outcome.asked += 1;
        const response = await new Promise((resolve, reject) => {
          responded = resolve;
          failed = reject;
          socket.write(user.request);
        });
        if (isGood(response)) outcome.refreshed += 1;
        else if (response.startsWith("HTTP/1.1 503 ")) {
          outcome.unavailable += 1;
          const seconds = Number(/\r\nretry-after: *(\d+)/i.exec(response)?.[1] ?? 1);
          waiting.unshift({ request: user.request, at: performance.now() + seconds * 1000 });
        } else outcome.signedOut += 1;
      }
    });
    await Promise.all(work);
    clearInterval(progress);
    const elapsed = performance.now() - started;
    isOver = true;
    await watching;
    for (const socket of [...sockets, own]) socket.destroy();
    const sorted = outcome.latencies.sort((one, other) => one - other);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
    return {
      ...outcome,
      latencies: undefined,
      bystanderResponses: sorted.length,
      p50: at(0.5),
      p99: at(0.99),
      slowest: sorted.at(-1),
      elapsed,
    };
  },
});
