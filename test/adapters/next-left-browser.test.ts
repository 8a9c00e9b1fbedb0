// Before idpauth/next, which needs it.
import "./applications/next-installed.js";
import type { NextRequest } from "next/server.js";
import { expect, it, vi } from "vitest";
import { createRoutes } from "../../src/adapters/next/next-routes.js";

// Only Next.js has a request scope.
vi.mock("next/headers.js", () => ({ headers: () => Promise.resolve(new Headers()) }));

/** The stream of an endpoint, for a request with this signal. */
async function responseFor(signal: AbortSignal) {
  const cancelled = vi.fn();
  const body = new ReadableStream<Uint8Array>({ cancel: cancelled });
  const component = () => ({
    handle: () => Promise.resolve({ status: 200, headers: {}, body }),
  });
  const { handlers } = createRoutes({ component } as never);
  const request = new Request("http://localhost/idpauth/events", { signal });
  const response = await handlers.GET(request as NextRequest);
  return { response, cancelled };
}

it("the stream of a browser that left before it began ends, because Next.js doesn't read it", async () => {
  const { cancelled } = await responseFor(AbortSignal.abort());
  await expect.poll(() => cancelled.mock.calls.length).toBe(1);
});

it("the stream of a browser that leaves before Next.js reads it ends, and one that is read is left to Next.js", async () => {
  for (const isRead of [false, true]) {
    const browser = new AbortController();
    const { response, cancelled } = await responseFor(browser.signal);
    if (isRead) response.body?.getReader();
    browser.abort();
    await new Promise((resolve) => setTimeout(resolve));
    expect(cancelled.mock.calls.length).toBe(isRead ? 0 : 1);
  }
});
