import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  Agent,
  createServer,
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, it } from "vitest";
import { buildPackage } from "../support/build.js";

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const stops: (() => void)[] = [];
afterEach(() => stops.splice(0).forEach((stop) => stop()));

/** A browser with one connection, so that the application opens no descriptor for it. */
class Browser {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  readonly #port: number;
  #cookie = "";

  constructor(port: number) {
    this.#port = port;
    stops.push(() => this.#agent.destroy());
  }

  async get(path: string, method = "GET"): Promise<Answer> {
    const headers = {
      host: "app.example",
      accept: "text/html",
      "accept-language": "de",
      "sec-fetch-site": "same-origin",
      "sec-fetch-mode": "navigate",
      cookie: this.#cookie,
    };
    const sent = request({
      host: "127.0.0.1",
      port: this.#port,
      path,
      method,
      agent: this.#agent,
      headers,
    });
    sent.end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    for (const cookie of response.headers["set-cookie"] ?? [])
      this.#cookie = cookie.slice(0, cookie.indexOf(";"));
    return {
      status: response.statusCode,
      headers: response.headers,
      body: await text(response),
    };
  }

  /** Signs in at the provider `staff`. */
  async signIn(): Promise<Answer> {
    const { headers } = await this.get("/idpauth/login/?provider=staff");
    const asked = new URL(headers.location ?? "").searchParams;
    const reply = new URLSearchParams({
      code: asked.get("nonce") ?? "",
      state: asked.get("state") ?? "",
    });
    return this.get(`/idpauth/login-callback/staff?${reply.toString()}`);
  }
}

/** An application with few descriptors, behind it an API. */
async function start() {
  await buildPackage();
  const api = createServer((_, response) => response.end("an order")).listen(0, "127.0.0.1");
  stops.push(
    () => api.closeAllConnections(),
    () => api.close(),
  );
  await once(api, "listening");
  const { port } = api.address() as AddressInfo;
  const child = spawn(
    "sh",
    [
      "-c",
      'ulimit -n 256 && exec "$0" "$@"',
      process.execPath,
      `${import.meta.dirname}/without-descriptors.mjs`,
      `http://127.0.0.1:${String(port)}/`,
    ],
    {
      env: { PATH: process.env["PATH"], NODE_ENV: "production" },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    },
  );
  stops.push(() => child.kill("SIGKILL"));
  const codes: string[] = [];
  const listening = new Promise<number>((resolve, reject) => {
    child.on("message", (message: { readonly port?: number; readonly code?: string }) => {
      if (message.code !== undefined) codes.push(message.code);
      if (message.port !== undefined) resolve(message.port);
    });
    child.once("close", () => reject(new Error("the application ended")));
  });
  return { browser: new Browser(await listening), codes };
}

it("an application that can't open a file any more signs users in, and serves everything again later", async () => {
  const { browser, codes } = await start();
  expect(await browser.get("/ready")).toMatchObject({ status: 200 });
  expect(Number((await browser.get("/descriptors/take")).body)).toBeGreaterThan(100);

  expect(await browser.get("/idpauth/style.css")).toMatchObject({ status: 200 });
  // The chooser, in English: the German texts can't be read.
  const chooser = await browser.get("/idpauth/login/");
  expect(chooser).toMatchObject({ status: 200, headers: { "content-language": "en" } });
  expect(chooser.body).toContain("provider=guests");
  expect(codes).toContain("language_not_loaded");
  // The page of an error.
  expect(await browser.get("/idpauth/login/?response=xml")).toMatchObject({ status: 400 });
  // A navigation without a session goes to the login.
  expect(await browser.get("/idpauth/events")).toMatchObject({ status: 302 });
  expect(await browser.signIn()).toMatchObject({ status: 302, headers: { location: "/idpauth/" } });
  expect((await browser.get("/idpauth/session")).body).toContain('"authenticated":true');
  expect(await browser.get("/idpauth/sessions")).toMatchObject({ status: 200 });
  expect(await browser.get("/idpauth/")).toMatchObject({ status: 200 });
  expect(await browser.get("/idpauth/popup")).toMatchObject({ status: 200 });
  expect(await browser.get("/idpauth/popup.js")).toMatchObject({ status: 200 });
  // It has no logout token.
  expect(await browser.get("/idpauth/backchannel-logout/staff", "POST")).toMatchObject({
    status: 400,
  });
  expect(await browser.get("/token")).toMatchObject({ status: 200, body: "access-token" });
  expect(await browser.get("/idpauth/logout/")).toMatchObject({
    status: 302,
    headers: { location: expect.stringContaining("https://staff.example/logout?") as string },
  });
  expect(await browser.get("/idpauth/logout-callback")).toMatchObject({ status: 302 });
  expect(await browser.signIn()).toMatchObject({ status: 302 });
  // A connection to the API needs a descriptor. The failure is this request's alone.
  expect(await browser.get("/orders/1")).toMatchObject({ status: 502 });

  await browser.get("/descriptors/release");
  expect(await browser.get("/orders/1")).toMatchObject({ status: 200, body: "an order" });
  expect(await browser.signIn()).toMatchObject({ status: 302, headers: { location: "/idpauth/" } });
});
