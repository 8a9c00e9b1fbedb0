import { expect, it } from "vitest";
import { needAfter } from "../../src/access/shared-refresh.js";
import type { Verdict } from "../../src/record/session-policy.js";

it.each<[Verdict, string | undefined]>([
  [{ kind: "refresh", reason: "review_due" }, "review"],
  [{ kind: "refresh", reason: "id_token_expired" }, "tokens"],
  [{ kind: "valid" }, undefined],
  [{ kind: "ended", reason: "idle" }, undefined],
])("after the verdict %o, a session needs %s", (verdict, need) => {
  expect(needAfter(verdict)).toBe(need);
});
