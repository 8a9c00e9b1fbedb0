// The load generator: a fixed number of keep-alive connections, each with one request under way, over plain sockets. It
// prepares every request beforehand and looks at each answer only as far as it must, so that the server is the bottleneck;
// its own share of a core is reported, to show that it was.
import { connect } from "node:net";
import { answerCalls } from "./children.mjs";

/** name -> { port, requests } */
const targets = new Map();

function requestFor(path, cookie) {
  const lines = [`GET ${path} HTTP/1.1`, "Host: 127.0.0.1", "Accept: */*", "User-Agent: bench", ...(cookie ? [`Cookie: ${cookie}`] : [])];
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

/** Gives each whole answer of a connection to `onAnswer`. Every server here sends Content-Length. */
function readAnswers(socket, onAnswer) {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.latin1Slice();
    for (;;) {
      const head = text.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, head + 2));
      if (length === null) throw new Error(`an answer without Content-Length:\n${text.slice(0, head)}`);
      const end = head + 4 + Number(length[1]);
      if (text.length < end) return;
      const answer = text.slice(0, end);
      text = text.slice(end);
      onAnswer(answer);
    }
  });
}

/** What every answer of every compared route contains when all is well. */
const isGood = (answer) => answer.startsWith("HTTP/1.1 200 ") && answer.includes('"authenticated":true');

answerCalls({
  /** Prepares a target; `cookies` are used in turn. */
  target({ name, port, path, cookies }) {
    targets.set(name, { port, next: 0, requests: (cookies ?? [undefined]).map((cookie) => requestFor(path, cookie)) });
  },

  /** Loads one target for a while. */
  async round({ name, connections, milliseconds }) {
    const target = targets.get(name);
    const sockets = await Promise.all(Array.from({ length: connections }, () => open(target.port)));
    let answered = 0;
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
        readAnswers(socket, (answer) => {
          if (isOver) return;
          answered += 1;
          latencies.push(performance.now() - askedAt.get(socket));
          if (!isGood(answer)) {
            failed += 1;
            sample ??= answer;
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
      answered,
      p50,
      p99,
      perSecond: (answered / elapsed) * 1000,
      failed,
      sample,
      clientCpu: (cpu.user + cpu.system) / 1000 / elapsed,
    };
  },

  /** Many requests at the same moment, each on a connection of its own. */
  async burst({ port, path, cookie, count }) {
    const sockets = await Promise.all(Array.from({ length: count }, () => open(port)));
    const request = requestFor(path, cookie);
    const started = performance.now();
    const answers = await Promise.all(
      sockets.map(
        (socket) =>
          new Promise((resolve) => {
            socket.on("error", (error) => resolve(String(error)));
            readAnswers(socket, resolve);
            socket.write(request);
          }),
      ),
    );
    const elapsed = performance.now() - started;
    for (const socket of sockets) socket.destroy();
    const bad = answers.filter((answer) => !isGood(answer));
    return { failures: bad.length, sample: bad[0], elapsed };
  },

  /**
   * All sessions are asked for at once, over a number of connections; whoever is answered 503 asks again after Retry-After.
   * Meanwhile one connection goes on asking for a session of its own. Gives what became of both.
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
      readAnswers(own, (answer) => {
        if (!isGood(answer)) reject(new Error(`the bystander was answered:\n${answer}`));
        outcome.latencies.push(performance.now() - askedAt);
        if (isOver) return resolve();
        // A person, not a flood: ten requests a second or so would be many already.
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
        `  after ${Math.round((performance.now() - started) / 1000)} s: ${refreshed} refreshed, ${unavailable} of ${asked} answers were 503`,
      );
    }, 5_000);
    const sockets = await Promise.all(Array.from({ length: connections }, () => open(port)));
    const work = sockets.map(async (_, index) => {
      let answered;
      let failed;
      const listen = (socket) => {
        readAnswers(socket, (answer) => answered(answer));
        socket.on("error", (error) => failed?.(error));
        return socket;
      };
      let socket = listen(sockets[index]);
      for (let visitor = waiting.pop(); visitor !== undefined; visitor = waiting.pop()) {
        const early = visitor.at - performance.now();
        if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
        // The server closes what was idle for long.
        if (socket.destroyed || socket.readableEnded) socket = sockets[index] = listen(await open(port));
        outcome.asked += 1;
        const answer = await new Promise((resolve, reject) => {
          answered = resolve;
          failed = reject;
          socket.write(visitor.request);
        });
        if (isGood(answer)) outcome.refreshed += 1;
        else if (answer.startsWith("HTTP/1.1 503 ")) {
          outcome.unavailable += 1;
          const seconds = Number(/\r\nretry-after: *(\d+)/i.exec(answer)?.[1] ?? 1);
          waiting.unshift({ request: visitor.request, at: performance.now() + seconds * 1000 });
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
      bystanderAnswers: sorted.length,
      p50: at(0.5),
      p99: at(0.99),
      slowest: sorted.at(-1),
      elapsed,
    };
  },
});
