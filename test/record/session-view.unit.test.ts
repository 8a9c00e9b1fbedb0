import { describe, expect, it } from "vitest";
import { sessionView } from "../../src/record/session-view.js";

describe("sessionView", () => {
  const policy = { sessionAutoRefresh: true, sessionMaxAge: null, sessionIdleTimeout: null };
  const idInfo = { iss: "https://idp.example", sub: "ada", nested: { list: [1] } };

  it.each([
    [undefined],
    [{}],
    [{ sub: "ada" }],
    [{ iss: "https://idp.example" }],
    [{ ...idInfo, sub: "" }],
    [{ ...idInfo, sub: 1 }],
  ])("is null for claims that do not identify a user: %j", (claims) => {
    expect(
      sessionView(
        { ...(claims && { id_info: claims }), idp_state: { v: 1 } },
        { policy, now: 1000 },
      ),
    ).toBeNull();
  });

  it("leaves the claims in a framework's own session changeable", () => {
    const view = sessionView(
      { id_info: idInfo, idp_login_at: "never", idp_state: { v: 1 } },
      { policy, now: 1000 },
    );
    expect(Object.isFrozen(idInfo) || Object.isFrozen(idInfo.nested.list)).toBe(false);
    expect(Object.isFrozen((view?.claims["nested"] as typeof idInfo.nested).list)).toBe(true);
    expect(view?.signedInAt).toBeNull();
  });
});
