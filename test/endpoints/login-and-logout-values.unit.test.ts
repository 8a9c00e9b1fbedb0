import { describe, expect, it } from "vitest";
import { LOGIN_RESPONSES, SCHEMES } from "../../src/endpoints/login-parameters.js";
import { LOGOUT_RESPONSES } from "../../src/endpoints/logout.js";

describe("the options of login and logout", () => {
  it("are those of the specification", () => {
    expect(SCHEMES).toEqual([
      "PRESERVE_ORIGIN_QP",
      "PRESERVE_ORIGIN_HP",
      "LANDING_PAGE",
      "DEFAULT",
    ]);
    expect([...LOGIN_RESPONSES].sort()).toEqual(["json", "redirect"]);
    expect([...LOGOUT_RESPONSES].sort()).toEqual(["json", "redirect"]);
  });
});
