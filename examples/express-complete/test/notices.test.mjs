// @ts-check
import { equal, match } from "node:assert/strict";
import { after, test } from "node:test";
import { signIn } from "idpauth/testing";
import { COMPANY, GRACE, startApplication } from "./application.mjs";

const { server, stop } = await startApplication();
after(stop);

void test("the stream has the notices, but none of another site's forms, and ends with the session", async () => {
  const user = await signIn(server, GRACE, COMPANY);
  const headers = { cookie: user.cookie };
  const { body } = await fetch(new URL("/stream", user.origin), { headers });
  const reader = /** @type {ReadableStream} */ (body)
    .pipeThrough(new TextDecoderStream())
    .getReader();
  /** @type {(end: RegExp) => Promise<string>} */
  const readUntil = async (end) => {
    let text = "";
    while (!end.test(text)) text += String((await reader.read()).value);
    return text;
  };

  const publish = (/** @type {string} */ text, headers = {}) =>
    user.post("/notices", new URLSearchParams({ text }), { headers });
  equal((await publish("Click here", { "sec-fetch-site": "cross-site" })).status, 403);
  equal((await publish("")).status, 400);
  equal((await publish("Closing at five")).status, 303);
  const text = await readUntil(/five.*\n\n/);
  match(text, /^event: notice\ndata: {"text":"Closing at five"}\n\n$/m);
  equal(text.includes("Click here"), false);

  await user.follow("/idpauth/logout/");
  match(await readUntil(/ended/), /event: ended/);
});
