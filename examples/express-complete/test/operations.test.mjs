// @ts-check
import { deepEqual, equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { trace } from "@opentelemetry/api";
import { browser, signIn } from "idpauth/testing";
import { COMPANY, GRACE, startApplication } from "./application.mjs";

/** @type {Record<string, unknown>[]} the attributes of the spans that an SDK would export */
const spans = [];
const startSpan = () => {
  /** @type {Record<string, unknown>} */
  const attributes = {};
  const setAttributes = (/** @type {object} */ more) => Object.assign(attributes, more);
  return { setAttributes, end: () => spans.push(attributes) };
};
trace.setGlobalTracerProvider({ getTracer: () => /** @type {any} */ ({ startSpan }) });

const { server, company, telemetry, lines, stop } = await startApplication();
after(stop);

void test("the log, the counter and the spans know the requests and sign-ins, and no token", async () => {
  const user = await signIn(server, { ...GRACE, sub: "grace" }, COMPANY);
  const id = (await user.get("/desk")).headers["x-request-id"];
  await user.get("/admin"); // 403
  const line = lines.find(({ request }) => request === id);
  deepEqual([line?.["user"], line?.["path"], line?.["status"]], ["grace", "/desk", 200]);
  deepEqual(
    lines.filter(({ path }) => path === "/admin").map((each) => [each["user"], each["status"]]),
    [["grace", 403]],
  );
  match(await telemetry.registry.metrics(), /^sign_ins_total 1$/m);
  const span = spans.find((attributes) => attributes["url.path"] === "/admin");
  deepEqual([span?.["user.id"], span?.["http.response.status_code"]], ["grace", 403]);
  const written = JSON.stringify([lines, spans]);
  for (const { value } of company.issued) equal(written.includes(value), false);
});

void test("the health endpoint needs no session, and writes no line", async () => {
  const before = lines.length;
  equal((await (await browser(server)).get("/healthz")).status, 200);
  equal(lines.length, before);
});
