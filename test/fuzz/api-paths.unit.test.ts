import fc from "fast-check";
import { expect } from "vitest";
import { proxiedUrl } from "../../src/apis/target.js";
import { apiRow } from "../apis/api-row.js";
import { fuzz } from "./fuzz.js";
import { mutatedText } from "./mutations.js";

const PIECES = ["/", "//", ".", "..", "%2e", "%252e", "%25", "%2f", "%2F", "%252f", "%5c", "\\", ";", "%3b", "%00", "\u0000", "#", "?", "@", ":", "//evil.example", "https://evil.example/", "/api/orders/", "/v2/", "x", "é", " ", "\t", "'", "[", "%", "|", "^"]; // prettier-ignore

const target = fc.oneof(
  fc
    .array(fc.constantFrom(...PIECES), { maxLength: 10 })
    .map((pieces) => `/api/orders/${pieces.join("")}`),
  mutatedText("/api/orders/items/5/../x?q=1", PIECES),
);

/**
 * What a server makes of a path that decodes it up to two times, takes backslashes for slashes, and
 * cuts parameters off.
 */
function leavesBase(path: string): boolean {
  const forms = [path];
  for (let times = 0; times < 2; times++) {
    forms.push(
      (forms.at(-1) ?? "").replace(/%([0-7][0-9a-f])/gi, (_all, hex: string) =>
        String.fromCharCode(parseInt(hex, 16)),
      ),
    );
  }
  return forms.some((form) => {
    let depth = 0;
    for (const segment of form.split(/[/\\]/)) {
      const name = segment.split(";", 1)[0] ?? "";
      if (name === ".." && --depth < 0) return true;
      if (name !== "" && name !== "." && name !== "..") depth++;
    }
    return false;
  });
}

fuzz(
  "FUZZ-10",
  "path of a proxied request",
  5_000,
  fc.property(target, fc.subarray(["%2F", "//", ";"] as const), (text, paths) => {
    const api = apiRow({ paths });
    const url = proxiedUrl(api, text);
    if (!(url instanceof URL)) return;
    // What is sent is what was checked: the base, and the rest of the text as it was.
    expect(url.href).toBe(api.url.href + text.slice("/api/orders/".length));
    expect(text.startsWith("/api/orders/")).toBe(true);
    const path = url.pathname.slice("/v2/".length);
    expect([text, leavesBase(path)]).toEqual([text, false]);
    for (const [allowance, form] of [["%2F", /%2f/i], ["//", /\/\//], [";", /;/]] as const) if (!paths.includes(allowance)) expect(url.pathname).not.toMatch(form); // prettier-ignore
  }),
);
