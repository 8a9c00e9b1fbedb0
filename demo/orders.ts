import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import type { Environment } from "./configuration.js";
import type { ReadyMessage } from "./fleet-messages.js";
import { Supervised } from "./supervised.js";

/** The orders API to the demo: it accepts requests on this port. */
export interface OrdersReadyMessage extends ReadyMessage {
  readonly port: number;
}

export interface Orders {
  /** Ends with a slash. */
  readonly url: string;
  /** Of the first start. */
  readonly pid: number;
  end(): Promise<void>;
}

/** Seconds from an end of the process to its next start. */
const PAUSE = 1;

/**
 * Starts the orders API, which continues on the same port if its process ends.
 *
 * @param issuers the providers whose access tokens it accepts
 * @param maxAge seconds for which it accepts a sign-in for an approval
 */
export async function startOrders(issuers: readonly string[], maxAge: number): Promise<Orders> {
  let port = 0;
  const role = {
    name: "orders",
    // Ctrl+C reaches the demo alone, which then ends this process.
    start: () =>
      fork(
        path.join(import.meta.dirname, "orders-process.js"),
        [String(port), String(maxAge), ...issuers],
        {
          detached: true,
          stdio: ["ignore", "inherit", "inherit", "ipc"],
        },
      ),
    async ready(child: ReturnType<typeof fork>) {
      [{ port }] = (await once(child, "message")) as [OrdersReadyMessage];
    },
  };
  const process = new Supervised(role, {
    pause: PAUSE,
    tell: (line) => console.log(line),
    changed: () => {},
  });
  await process.start();
  return { url: `http://127.0.0.1:${port}/v1/`, pid: process.pid ?? 0, end: () => process.end() };
}

/**
 * Returns the issuers if the provider is not the demo's own. An API that finds out by trying which
 * of several providers issued a token would send the token to the others, so there is none for
 * several.
 */
export function ordersIssuers({
  IDP_ISSUER: issuer,
  IDP_PROVIDERS: several = "",
}: Environment): readonly string[] {
  if (several.trim() !== "") return [];
  return [issuer?.trim() || "https://accounts.google.com"];
}
