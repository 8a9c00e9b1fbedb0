import { describe, expect, it } from "vitest";
import {
  keptByChooser,
  LOGIN_PARAMETER_NAMES,
  ownParameters,
  STEP_UP_PARAMETERS,
} from "../../src/config/login-parameters.js";

const all = (names: readonly string[]) => names.map((name): [string, string] => [name, "x"]);

describe("the table of login parameters", () => {
  it("is what the login reads: a parameter whose row was forgotten has no effect", () => {
    const sent = [...LOGIN_PARAMETER_NAMES, "login_hint", "prompt", "__proto__", "toString", "API"];
    const read = ownParameters(new URLSearchParams(all(sent)));
    expect([...read.keys()]).toEqual(LOGIN_PARAMETER_NAMES);
  });

  it("keeps repeated parameters repeated, so that they are refused", () => {
    expect(ownParameters(new URLSearchParams("scheme=a&x=1&scheme=b")).getAll("scheme")).toEqual([
      "a",
      "b",
    ]);
  });

  it("says what survives the choice of a provider: neither the choice itself nor who started the login", () => {
    const kept = keptByChooser(new URLSearchParams(all([...LOGIN_PARAMETER_NAMES, "prompt"])));
    expect(kept.map(([name]) => name)).toEqual([
      "scheme",
      "response",
      "origin_url",
      "target_link_uri",
      "select_account",
      "max_age",
      "acr_values",
      "api",
    ]);
  });

  it("says which parameters belong to a step-up", () => {
    expect(STEP_UP_PARAMETERS).toEqual(["max_age", "acr_values"]);
  });
});
