// @ts-check
import { randomUUID } from "node:crypto";
import { context, trace } from "@opentelemetry/api";

/**
 * Writes a log line for each request, counts it, and makes a span of it. The query isn't written:
 * that of a callback contains the authorization code.
 * @param {import("./telemetry.mjs").Telemetry} telemetry
 * @param {(req: import("express").Request) => string | undefined} userOf
 * @returns {import("express").RequestHandler}
 */
export function observeRequests({ log, requests, tracer }, userOf) {
  return (req, res, next) => {
    const [request, { method, path }] = [randomUUID(), req];
    const span = tracer.startSpan(method);
    res.set("X-Request-Id", request);
    res.once("close", () => {
      const [status, user] = [res.statusCode, userOf(req)];
      log({ level: "info", request, user, method, path, status });
      requests.inc({ status });
      span.setAttributes({
        "url.path": path,
        "user.id": user,
        "http.response.status_code": status,
      });
      span.end();
    });
    context.with(trace.setSpan(context.active(), span), next);
  };
}
