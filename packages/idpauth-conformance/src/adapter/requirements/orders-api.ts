import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ApplicationRoute, ProxiedApi } from "../adapter-under-test.js";
import type { ApplicationStarter, StartedApplication } from "../application-starter.js";
import { withinLimit } from "./time-limit.js";

/** A request that reached the API. */
export interface ApiCall {
  readonly message: IncomingMessage;
  /** What has arrived of the body. */
  body: string;
  /** Whether the connection closed before the response was complete. */
  isAborted: boolean;
}

/**
 * An API on a free port of 127.0.0.1. It responds with the request's method and body, below
 * `status/` with that status, and with events.
 */
export class OrdersApi {
  readonly calls: ApiCall[] = [];
  /** The tokens that get 401. */
  readonly rejected = new Set<string>();
  readonly #server = createServer((message, response) => {
    this.#respond(message, response);
  });
  readonly #changes = new EventEmitter();

  static async start(): Promise<OrdersApi> {
    const api = new OrdersApi();
    await once(api.#server.listen(0, "127.0.0.1"), "listening");
    return api;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}/v2/`;
  }

  /** The tokens of all requests. */
  get tokens(): (string | undefined)[] {
    return this.calls.map(
      ({ message }) => /^Bearer (.+)$/.exec(message.headers.authorization ?? "")?.[1],
    );
  }

  /** Resolves when this holds of the last request. */
  async until(holds: (last: ApiCall) => boolean, otherwise: string): Promise<void> {
    for (;;) {
      const last = this.calls.at(-1);
      if (last !== undefined && holds(last)) return;
      await withinLimit(once(this.#changes, "change"), otherwise);
    }
  }

  #respond(message: IncomingMessage, response: ServerResponse): void {
    const call: ApiCall = { message, body: "", isAborted: false };
    this.calls.push(call);
    const status = Number(
      /status\/(\d+)/.exec(message.url ?? "")?.[1] ??
        (this.rejected.has(this.tokens.at(-1) ?? "") ? 401 : 200),
    );
    const isStream = message.url === "/v2/stream";
    response.on("close", () => {
      call.isAborted = !response.writableFinished;
      this.#changes.emit("change");
    });
    response.setHeader("Content-Type", isStream ? "text/event-stream" : "application/json");
    response.setHeader("Set-Cookie", "theirs=1").setHeader("Cache-Control", "public, max-age=60");
    message.setEncoding("latin1").on("data", (text: string) => {
      call.body += text;
      this.#changes.emit("change");
    });
    response.statusCode = status;
    if (isStream) response.write("data: 1\n\n");
    else
      message.on("end", () =>
        response.end(
          status === 200 ? JSON.stringify({ method: message.method, body: call.body }) : undefined,
        ),
      );
    this.#changes.emit("change");
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Starts an API and an application that passes requests below `/api/orders/` on to it. */
export async function startProxy(
  starter: ApplicationStarter,
  {
    routes,
    options,
    ...proxied
  }: Partial<ProxiedApi> & {
    readonly routes?: readonly ApplicationRoute[];
    readonly options?: object;
  } = {},
): Promise<StartedApplication & { readonly api: OrdersApi }> {
  const api = starter.stopping(await OrdersApi.start());
  const apis = {
    orders: {
      url: api.url,
      path: "/api/orders/",
      resource: "https://orders.example.com",
      methods: ["GET", "HEAD", "POST"],
      requestHeaders: { "x-own": true as const },
    },
  };
  const app = await starter.start({
    options: { apis, ...options },
    ...(routes && { routes }),
    proxied: [{ api: "orders", ...proxied }],
  });
  assert.equal(app.auths.length, 1);
  return { ...app, api };
}
