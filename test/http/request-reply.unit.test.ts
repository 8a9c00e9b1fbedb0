import { describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode } from "../../src/errors.js";
import { isPrefetch } from "../../src/endpoints/refuse-without-click.js";
import { pathOf, queryOf, single, type IdpRequest } from "../../src/http/request.js";
import { json, jsonText, problem, redirect, stylesheet } from "../../src/http/reply.js";
import { page } from "../../src/pages/page-reply.js";
import { preferredType, wantsPage } from "../../src/http/accept.js";

describe("which of HTML and JSON an Accept header prefers", () => {
  it.each([
    [
      "Chrome, navigation",
      "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
      "html",
    ],
    [
      "Firefox, navigation",
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "html",
    ],
    [
      "Firefox before 128, navigation",
      "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/png,image/svg+xml,*/*;q=0.8",
      "html",
    ],
    [
      "Safari, navigation",
      "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
      "html",
    ],
    [
      "Edge Legacy, navigation",
      "text/html, application/xhtml+xml, application/xml; q=0.9, */*; q=0.8",
      "html",
    ],
    ["Internet Explorer, navigation", "text/html, application/xhtml+xml, image/jxr, */*", "html"],
    [
      "Lynx",
      "text/html, text/plain, text/sgml, text/css, application/xhtml+xml, */*;q=0.01",
      "html",
    ],
    ["fetch without a header", "*/*", undefined],
    ["curl", "*/*", undefined],
    ["axios", "application/json, text/plain, */*", "json"],
    ["jQuery, dataType json", "application/json, text/javascript, */*; q=0.01", "json"],
    ["superagent and others", "application/json", "json"],
    ["a problem-aware client", "application/problem+json", "json"],
    [
      "a problem-aware client that takes pages too",
      "application/problem+json, text/html;q=0.5",
      "json",
    ],
    ["image", "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5", undefined],
    ["stylesheet", "text/css,*/*;q=0.1", undefined],
    ["event stream", "text/event-stream", undefined],
    ["React Server Components", "text/x-component", undefined],
    ["no header", undefined, undefined],
    ["empty", "", undefined],
  ] as const)("%s", (_client, accept, preferred) => {
    expect(preferredType(accept)).toBe(preferred);
  });

  it.each([
    ["text/html", "html"],
    ["TEXT/HTML", "html"],
    ["application/xhtml+xml", "html"],
    ["text/html;charset=utf-8", "html"],
    ["text/html;level=1;q=0.5", "html"],
    ["text/html;q=0.5,application/json;q=0.4", "html"],
    ["text/html;q=0.4,application/json;q=0.5", "json"],
    ["text/html ; Q=0.4 , application/json ; Q=0.5", "json"],
    ["text/html;q=0.001", "html"],
    ["text/html;q=1.000,application/json;q=0.999", "html"],
    ["text/html,application/json", undefined],
    ["application/json,text/html", undefined],
    ["text/html;q=0", undefined],
    ["application/json;q=0", undefined],
    ["text/html;q=0,application/json", "json"],
    ["*/*,text/html;q=0.5", undefined],
    ["*/*;q=0.5,text/html;q=0.5", "html"],
    ["*/*;q=0.9,application/json;q=0.5", undefined],
    ["text/*", undefined],
    ["text/plain", undefined],
    ["text/html;q=0.2,text/html;q=0.8,application/json;q=0.5", "html"],
  ] as const)("by q value: %s is %s", (accept, preferred) => {
    expect(preferredType(accept)).toBe(preferred);
  });

  it.each([
    ["text/html;q=", undefined],
    ["text/html;q=x", undefined],
    ["text/html;q=-1", undefined],
    ["text/html;q=2", undefined],
    ["text/html;q=NaN", undefined],
    ["text/html;q=Infinity", undefined],
    ["text/html;q=x,application/json;q=0.1", "json"],
    [",,,", undefined],
    [";;;", undefined],
    [";q=1", undefined],
    ["text/html;", "html"],
    ["text/html;;q=0.5", "html"],
    [",text/html,", "html"],
    ["html", undefined],
    ["text/htmlx", undefined],
    ["text/html/x", undefined],
    ["*", undefined],
    ['"text/html"', undefined],
    ["text/html<script>", undefined],
    ["application/json, ".repeat(10_000), "json"],
    ["a".repeat(100_000), undefined],
    [";".repeat(100_000), undefined],
    [`text/html${" ".repeat(50_000)};q=1`, "html"],
  ] as const)("malformed or hostile, never a throw: %.40s is %s", (accept, preferred) => {
    expect(preferredType(accept)).toBe(preferred);
  });
});

describe("path and query of a request target", () => {
  it.each([
    ["/", "/", ""],
    ["/idpauth/session", "/idpauth/session", ""],
    ["/idpauth/session?", "/idpauth/session", ""],
    ["/idpauth/session?slide=false", "/idpauth/session", "slide=false"],
    [
      "/idpauth/login/?origin_url=https://a.example/?x=1",
      "/idpauth/login/",
      "origin_url=https://a.example/?x=1",
    ],
    ["/a?b?c", "/a", "b?c"],
    ["/a%3Fb?c", "/a%3Fb", "c"],
    ["//evil.test/idpauth/session", "//evil.test/idpauth/session", ""],
    ["?x", "/", "x"],
    ["", "/", ""],
    ["*", "/", ""],
    ["http://app.example/idpauth/session?x=1", "/idpauth/session", "x=1"],
    ["HTTPS://app.example:8443/idpauth/", "/idpauth/", ""],
    ["http://app.example", "/", ""],
    ["http://app.example/", "/", ""],
    ["http://user:pass@app.example/a", "/", ""],
    ["http:///idpauth/session", "/", ""],
    ["app.example:443", "/", ""],
    ["ftp://app.example/a", "/", ""],
  ])("%s has the path %s and the query %s", (target, path, query) => {
    expect(pathOf(target)).toBe(path);
    expect(queryOf(target)).toBe(query);
  });

  it.each([
    ["", undefined, false],
    ["scheme=A", "A", false],
    ["scheme=", "", false],
    ["scheme", "", false],
    ["scheme=A&scheme=B", "A", true],
    ["scheme=A&scheme=A", "A", true],
    ["scheme&scheme", "", true],
    ["Scheme=A", undefined, false],
    ["scheme%20=A", undefined, false],
    ["sch%65me=A", "A", false],
    ["scheme=%E0%A4%A", "\ufffdA".replace("A", "%A"), false],
  ])("one parameter of %j: %j, repeated %s", (query, value, repeated) => {
    expect(single(new URLSearchParams(query), "scheme")).toEqual({ value, repeated });
  });
});

function requestWith(headers: Record<string, string>): IdpRequest {
  return {
    method: "GET",
    target: "/idpauth/login/",
    scheme: "https",
    host: "app.example",
    header: (name) => headers[name],
  };
}

describe("a prefetch", () => {
  it.each([
    [{ "sec-purpose": "prefetch" }, true],
    [{ "sec-purpose": "prefetch;prerender" }, true],
    [{ "sec-purpose": "prefetch;anonymous-client-ip" }, true],
    [{ "sec-purpose": "Prefetch" }, true],
    [{ purpose: "prefetch" }, true],
    [{ "x-sec-purpose": "prefetch" }, true],
    [{ "x-purpose": "preview" }, true],
    [{ "x-moz": "prefetch" }, true],
    [{ "next-router-prefetch": "1" }, true],
    [{ "next-router-prefetch": "" }, true],
    [{}, false],
    [{ "sec-purpose": "" }, false],
    [{ purpose: "navigate" }, false],
    [{ accept: "prefetch" }, false],
  ] as [Record<string, string>, boolean][])("%j: %s", (headers, expected) => {
    expect(isPrefetch(requestWith(headers))).toBe(expected);
  });

  it("either of the two purposes is enough", () => {
    expect(isPrefetch(requestWith({ "sec-purpose": "other", purpose: "prefetch" }))).toBe(true);
  });
});

const COMMON = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  Vary: "Cookie",
};
const CODES = Object.keys(ERRORS) as ErrorCode[];

describe("[BCP-15] [ASVS-3.4.4] responses", () => {
  it.each([
    ["json", json({ a: 1 })],
    ["json text", jsonText("{}")],
    ["redirect", redirect("/x")],
    ["problem", problem("not_found", "Nothing.")],
    ["page", page(200, "<p>")],
    ["stylesheet", stylesheet("p{}")],
  ])("%s: the headers that every response has", (_kind, { headers }) => {
    expect(headers).toMatchObject(COMMON);
  });

  it("JSON stays in its origin, and is framed by nobody", () => {
    expect(json({ a: 1 })).toEqual({
      status: 200,
      headers: {
        ...COMMON,
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
        "X-Frame-Options": "DENY",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Content-Type": "application/json; charset=utf-8",
      },
      body: '{"a":1}',
    });
  });

  it("further headers come along and leave the shared ones unchanged", () => {
    expect(json({}, 503, { "Retry-After": "5" })).toMatchObject({
      status: 503,
      headers: { ...COMMON, "Retry-After": "5" },
    });
    expect(json({}).headers).not.toHaveProperty("Retry-After");
    expect(Object.isFrozen(json({}).headers)).toBe(true);
  });

  it.each([
    ["/reports?a=%C3%A9&b=c d", "/reports?a=%C3%A9&b=c%20d"],
    ["\u0000/a\r\nSet-Cookie: a=b", "%00/a%0D%0ASet-Cookie:%20a=b"],
    ["/é\u{1f600}", "/%C3%A9%F0%9F%98%80"],
    ["/\ud800", "/%EF%BF%BD"],
  ])("a redirect to %j has only visible ASCII in its Location", (location, written) => {
    expect(redirect(location).headers["Location"]).toBe(written);
  });

  it("a redirect is a 302 without a body", () => {
    const reply = redirect("https://app.example/x");
    expect(reply).toMatchObject({
      status: 302,
      headers: { Location: "https://app.example/x", "Content-Length": "0" },
    });
    expect(reply.body).toBeUndefined();
  });

  it.each(CODES)("problem %s: RFC 9457, with the status and title of the table", (code) => {
    const reply = problem(code, "Our own words.");
    expect(reply.status).toBe(ERRORS[code].status);
    expect(reply.headers["Content-Type"]).toBe("application/problem+json; charset=utf-8");
    expect(reply.headers["Cross-Origin-Resource-Policy"]).toBe("same-origin");
    expect(JSON.parse(reply.body ?? "")).toEqual({
      type: "about:blank",
      title: ERRORS[code].title,
      status: ERRORS[code].status,
      code,
      detail: "Our own words.",
    });
  });

  it("a problem takes further properties and headers", () => {
    const reply = problem("invalid_parameter", "x", {
      members: { valid_options: { scheme: ["A"] } },
      headers: { Allow: "GET" },
    });
    expect(JSON.parse(reply.body ?? "")).toMatchObject({ valid_options: { scheme: ["A"] } });
    expect(reply.headers["Allow"]).toBe("GET");
  });

  it("a page runs no script, is framed by nobody, and may load its stylesheet", () => {
    const { headers, status, body } = page(400, "<p>");
    expect([status, body, headers["Content-Type"]]).toEqual([
      400,
      "<p>",
      "text/html; charset=utf-8",
    ]);
    const policy = headers["Content-Security-Policy"]?.split("; ") ?? [];
    expect(policy).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        "style-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
      ]),
    );
    expect(policy.join()).not.toMatch(/script-src|unsafe|img-src|\*/);
    expect(headers["X-Frame-Options"]).toBe("DENY");
  });

  it("a page with pictures allows their origins alone", () => {
    expect(
      page(200, "", { images: ["'self'", "https://pictures.example"] }).headers[
        "Content-Security-Policy"
      ],
    ).toContain("img-src 'self' https://pictures.example;");
  });
});

describe("whether a response is a page", () => {
  const HTML = { accept: "text/html,*/*;q=0.8" };
  const JSON_ONLY = { accept: "application/json" };
  const metadata = (site: string, mode: string) => ({
    "sec-fetch-site": site,
    "sec-fetch-mode": mode,
  });

  it.each<[Readonly<Record<string, string>>, boolean, boolean]>([
    // The headers; the result; the result of an endpoint that browsers navigate to.
    [{}, false, true],
    [{ accept: "*/*" }, false, true],
    [HTML, true, true],
    [JSON_ONLY, false, false],
    [{ ...JSON_ONLY, "sec-fetch-mode": "navigate" }, true, true],
    [{ "sec-fetch-mode": "cors" }, false, true],
    [{ ...HTML, "sec-fetch-mode": "cors" }, true, true],
    [{ ...HTML, "sec-fetch-site": "same-origin" }, true, true],
    [{ ...HTML, ...metadata("same-origin", "cors") }, false, false],
    [{ ...HTML, ...metadata("same-origin", "same-origin") }, false, false],
    [{ ...HTML, ...metadata("cross-site", "no-cors") }, false, false],
    [{ ...HTML, ...metadata("same-origin", "websocket") }, false, false],
    [{ ...JSON_ONLY, ...metadata("none", "navigate") }, true, true],
    [metadata("cross-site", "navigate"), true, true],
  ])("%j: %s, else %s", (headers, expected, otherwise) => {
    const request = { header: (name: string) => headers[name] } as IdpRequest;
    expect([wantsPage(request), wantsPage(request, true)]).toEqual([expected, otherwise]);
  });
});
