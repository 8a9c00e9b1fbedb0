import { describe, expect, it } from "vitest";
import { createOwnForms, type OpenedRequest } from "../../src/sessions/form-proof.js";
import { createSealer } from "../../src/sessions/seal.js";
import { TestClock } from "../../src/testing/test-clock.js";

const ORIGIN = "https://app.example";
const FIELDS = "login_hint=grace&scheme=DEFAULT";

interface Browser {
  readonly headers?: Readonly<Record<string, string>>;
  readonly origin?: string | undefined;
  readonly session?: string | undefined;
}

/** A request of a browser without Fetch Metadata on a page of ours, unless it says otherwise. */
function opened({ headers = { origin: ORIGIN }, ...given }: Browser = {}): OpenedRequest {
  const { origin, session } = { origin: ORIGIN, session: "ada", ...given };
  const request = {
    method: "POST",
    target: "/idpauth/login/",
    scheme: "https",
    host: "app.example",
    header: (name: string) => headers[name],
  } as const;
  return { request, origin, session: { key: session } };
}

function rig(publicPath = "/idpauth/") {
  const clock = new TestClock();
  const forms = createOwnForms({
    settings: { publicPath },
    sealer: createSealer("a secret key of at least 32 bytes", []),
    clock,
    sessionOf: ({ session }) => session.key,
  });
  const proven = (browser?: Browser) =>
    forms.withProof(opened(browser), new URLSearchParams(FIELDS));
  const isProven = (query: string, browser?: Browser) =>
    forms.isProven(opened(browser), new URLSearchParams(query));
  return { clock, forms, proven, isProven };
}

describe("the proof that a form of our own page has begun a login", () => {
  it("follows the fields, and counts for a minute", () => {
    const { clock, proven, isProven } = rig();
    const query = proven().toString();
    expect(query.startsWith(`${FIELDS}&form_proof=`)).toBe(true);
    expect(isProven(query)).toBe(true);
    clock.advance(59_999);
    expect(isProven(query)).toBe(true);
    clock.advance(1);
    expect(isProven(query)).toBe(false);
  });

  it.each<[string, Browser]>([
    ["of another origin", { headers: { origin: "https://evil.example" } }],
    ["of a page without an origin", { headers: { origin: "null" } }],
    ["without Origin", { headers: {} }],
    ["under a Host header that isn't usable", { origin: undefined }],
    ["under a Host header that isn't usable, without Origin", { origin: undefined, headers: {} }],
    ["of a browser without a session", { session: undefined }],
    ["of a browser with an empty session", { session: "" }],
    [
      "with Sec-Fetch-Site, which says more",
      { headers: { origin: ORIGIN, "sec-fetch-site": "same-origin" } },
    ],
  ])("isn't given to a form %s", (_what, browser) => {
    expect(rig().proven(browser).toString()).toBe(FIELDS);
  });

  it.each<[string, Browser]>([
    ["another session", { session: "eve" }],
    ["no session", { session: undefined }],
    ["an empty session", { session: "" }],
    ["another origin", { origin: "https://other.example" }],
    ["a Host header that isn't usable", { origin: undefined }],
    ["Sec-Fetch-Site", { headers: { "sec-fetch-site": "cross-site" } }],
  ])("doesn't count for a browser with %s", (_what, browser) => {
    const { proven, isProven } = rig();
    const query = proven().toString();
    expect([isProven(query), isProven(query, browser)]).toEqual([true, false]);
  });

  it("of one mount path doesn't count at another one", () => {
    const query = rig("/a/").proven().toString();
    expect([rig("/a/").isProven(query), rig("/b/").isProven(query)]).toEqual([true, false]);
  });

  it.each<[string, (query: string) => string]>([
    ["another field", (query) => `${query}&acr_values=gold`],
    ["a changed field", (query) => query.replace("grace", "eve")],
    ["one field less", (query) => query.replace("&scheme=DEFAULT", "")],
    ["other fields alone", (query) => query.replace(FIELDS, "scheme=DEFAULT")],
    ["no proof", () => FIELDS],
    ["an empty proof", () => `${FIELDS}&form_proof=`],
  ])("doesn't count with %s", (_what, change) => {
    const { proven, isProven } = rig();
    expect(isProven(change(proven().toString()))).toBe(false);
  });

  it("that the form itself contains is left out, and doesn't change the fields", () => {
    const { forms, proven, isProven } = rig();
    const earlier = proven();
    const query = forms.withProof(opened(), earlier);
    expect(query.getAll("form_proof")).toHaveLength(1);
    expect(isProven(query.toString())).toBe(true);
    const foreign = opened({ headers: { origin: "https://evil.example" } });
    expect(forms.withProof(foreign, earlier).toString()).toBe(FIELDS);
  });
});
