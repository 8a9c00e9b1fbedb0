import { expect, it } from "vitest";
import { createApplication } from "../../src/application/application.js";
import { HookFailedError } from "../../src/errors.js";
import { EventHub } from "../../src/events/event-hub.js";
import type { ApplicationOptions } from "../../src/application/hooks.js";
import { TestClock } from "../../src/testing/test-clock.js";
import { polluted } from "../support/polluted.js";

const CREDENTIALS = {
  token: "token",
  token_uri: "",
  client_id: "client",
  client_secret: "",
  scopes: [],
};
const USER = { idInfo: { iss: "https://idp.example", sub: "ada" }, credentials: CREDENTIALS };
const REQUEST = {
  method: "GET",
  target: "/",
  scheme: "http",
  host: undefined,
  header: () => undefined,
} as const;

const CALLBACK = { request: REQUEST, postedName: null };

function application(options: ApplicationOptions) {
  const clock = new TestClock();
  return createApplication({
    options,
    hookTimeout: 5,
    dataLimit: 1000,
    clock,
    events: new EventHub(() => undefined, clock),
  });
}

it("a user whom the claims schema refuses stays refused while Object.prototype has keys of a result", async () => {
  const { signIn } = application({
    claims: { "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [] }) } },
  });
  const keys = { output: { groups: ["admin"] }, accepted: true, value: {} };
  expect(await polluted(keys, () => signIn(USER, undefined, CALLBACK))).toEqual({
    kind: "claims_rejected",
  });
});

it("a change of the data that throws is a failure of its own hook, also if it throws the error of another hook", async () => {
  const cause = new HookFailedError("claims", "timeout");
  const fail = () => {
    throw cause;
  };
  const decision = await application({ onSignIn: () => ({ data: fail }) }).signIn(
    USER,
    undefined,
    CALLBACK,
  );
  const change = decision.kind === "accepted" ? decision.review.changeData : undefined;
  expect(() => change?.({})).toThrow(
    expect.objectContaining({ hook: "onSignIn", reason: "threw", cause }),
  );
});
