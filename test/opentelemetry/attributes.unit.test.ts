import { describe, expect, it } from "vitest";
import { IdpAuthError, ProviderUnavailableError } from "../../src/errors.js";
import { BoundedValues, errorType } from "../../src/opentelemetry/attributes.js";

describe("the attributes of metrics", () => {
  it("have at most 100 values each, so that invented error codes don't fill the memory", () => {
    const values = new BoundedValues();
    const invented = Array.from({ length: 150 }, (_, count) => `code_${String(count)}`);
    const recorded = invented.map((reason) => values.of({ reason, endpoint: "token" }));
    expect(recorded[99]).toEqual({ reason: "code_99", endpoint: "token" });
    expect(recorded[100]).toEqual({ reason: "_OTHER", endpoint: "token" });
    expect(values.of({ reason: "code_7" })).toEqual({ reason: "code_7" });
  });
});

describe("the type of an error", () => {
  it.each([
    ["the reason of an outage", new ProviderUnavailableError("http_503"), "http_503"],
    ["the code of an error of idpauth", new IdpAuthError("api_timeout", "late"), "api_timeout"],
    ["a driver's code", Object.assign(new Error(), { code: "ECONNREFUSED" }), "ECONNREFUSED"],
    [
      "the code of an error that a driver wrapped",
      new Error("connection", { cause: Object.assign(new Error(), { code: "ECONNRESET" }) }),
      "ECONNRESET",
    ],
    ["no text of another error", Object.assign(new Error("eyJ"), { code: "a token" }), "rejected"],
    ["no reason of another error", Object.assign(new Error(), { reason: "secret" }), "rejected"],
    ["nothing of what is no error", null, "rejected"],
  ])("is %s", (_what, error, type) => {
    expect(errorType(error)).toBe(type);
  });
});
