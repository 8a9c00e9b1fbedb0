import { Agent, request } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import type { Processes } from "./processes.js";
import { EXPIRY_MS, type Surroundings } from "./surroundings.js";

/** How many requests one click sends. */
const REQUESTS = 200;
const GIVE_UP_MS = 60_000;

/** The lease that a dead process leaves lasts 40 seconds; then another process takes over. */
const LEASE_MS = 41_000;

export interface RaceParts {
  readonly origin: string;
  readonly surroundings: Surroundings;
  readonly processes: Processes;
}

export interface RaceOptions {
  /** Of the user who clicked. */
  readonly cookie: string;
  /** Whether the process that refreshes is killed in the middle. */
  readonly isKilled: boolean;
  /** Sends one line to the page. */
  tell(line: unknown): void;
}

/**
 * Lets the session's tokens expire, and sends 200 requests at once with the user's cookie. A browser
 * would open only six connections, so this script sends them. It repeats each request that gets 503.
 */
export async function runRace(
  { origin, surroundings, processes }: RaceParts,
  { cookie, isKilled, tell }: RaceOptions,
): Promise<void> {
  await processes.advance(EXPIRY_MS);
  const before = tokenRequests();
  const began = performance.now();
  const agent = new Agent({ maxSockets: REQUESTS });
  const results: Promise<void>[] = [];
  if (isKilled) {
    const [first] = processes.states.filter(({ isRunning }) => isRunning);
    if (first === undefined) throw new Error("No process is running.");
    // The provider never responds to this request, so it happens in the middle of the refresh.
    let refreshes: () => void = () => {};
    const refreshing = new Promise<void>((resolve) => (refreshes = resolve));
    const removals = surroundings.providers.map((provider) =>
      provider.fault("token", {
        kind: "hang",
        times: 1,
        when() {
          refreshes();
          return true;
        },
      }),
    );
    results.push(send(0, first.name));
    await Promise.race([refreshing, results[0]]);
    for (let index = 1; index < REQUESTS; index += 1) results.push(send(index));
    await wait(1000);
    for (const remove of removals) remove();
    processes.kill?.(first.name);
    tell({ killed: first.name });
    await wait(1500);
    await processes.advance(LEASE_MS);
  } else {
    for (let index = 0; index < REQUESTS; index += 1) results.push(send(index));
  }
  await Promise.all(results);
  agent.destroy();
  tell({
    tokenRequests: tokenRequests() - before,
    milliseconds: Math.round(performance.now() - began),
  });

  function tokenRequests(): number {
    const isRefresh = { grant_type: "refresh_token" };
    return surroundings.providers.reduce(
      (sum, provider) => sum + provider.requestsTo("token", isRefresh).length,
      0,
    );
  }

  async function send(index: number, to?: string): Promise<void> {
    for (;;) {
      const { status, process } = await answerTo(to);
      tell({ index, status, process });
      const isOver = performance.now() - began > GIVE_UP_MS;
      if ((status !== 503 && status !== 0) || isOver) return;
      await wait(500);
    }
  }

  function answerTo(to: string | undefined): Promise<{ status: number; process?: unknown }> {
    return new Promise((resolve) => {
      const headers = {
        cookie,
        accept: "application/json",
        ...(to !== undefined && { "x-demo-process": to }),
      };
      request(`${origin}/api/me`, { agent, headers }, (response) => {
        const { statusCode: status = 0, headers } = response;
        response
          .resume()
          .on("close", () => resolve({ status, process: headers["x-demo-process"] }));
      })
        .on("error", () => resolve({ status: 0 })) // the connection broke
        .end();
    });
  }
}
