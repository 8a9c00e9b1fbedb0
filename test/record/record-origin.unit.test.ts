import { describe, expect, it } from "vitest";
import { isElsewhere, withOrigin } from "../../src/record/record-origin.js";
import { EMPTY_RECORD, type SessionRecord } from "../../src/record/record.js";
import { isLoginTarget, parseRecord } from "../../src/record/stored-form.js";

const NAMES = { credentials: "credentials", oauth_state: "state", final_redirect: "final" };
const CREDENTIALS = { token: "t", token_uri: "", client_id: "c", client_secret: "", scopes: [] };
const SIGNED_IN: SessionRecord = { ...EMPTY_RECORD, credentials: CREDENTIALS };
const TARGET = { final_redirect: "/", redirect_uri: "https://a.example/callback" };

const HOSTILE = ["", 1, null, true, {}, ["https://a.example"]];

describe("the origin of a record", () => {
  it("is that of the first write after the sign-in", () => {
    const stamped = withOrigin(SIGNED_IN, "https://a.example");
    expect(stamped.idp_state.origin).toBe("https://a.example");
    expect(withOrigin(stamped, "https://b.example")).toBe(stamped);
  });

  it("isn't stored before a sign-in, or where there is one origin", () => {
    expect(withOrigin(EMPTY_RECORD, "https://a.example")).toBe(EMPTY_RECORD);
    expect(withOrigin(SIGNED_IN, undefined)).toBe(SIGNED_IN);
  });

  it.each<[string | undefined, string | undefined, boolean]>([
    ["https://a.example", "https://b.example", true],
    ["https://a.example", "https://a.example", false],
    ["https://a.example", "http://a.example", true],
    [undefined, "https://b.example", false],
    ["https://a.example", undefined, false],
  ])("%s is elsewhere for a request at %s: %s", (stored, own, expected) => {
    expect(isElsewhere(stored, own)).toBe(expected);
  });

  it.each(HOSTILE)("stored as %j, it makes the record unreadable", (origin) => {
    const parse = (state: object) => parseRecord({ idp_state: { v: 1, ...state } }, NAMES);
    expect(parse({ origin: "https://a.example" })).toBeDefined();
    expect(parse({ origin })).toBeUndefined();
    expect(isLoginTarget({ ...TARGET, origin: "https://a.example" })).toBe(true);
    expect(isLoginTarget({ ...TARGET, origin })).toBe(false);
  });
});
