import { afterEach, describe, expect, it } from "vitest";
import { isValidIdpUrl } from "../../src/http/document-urls.js";
import { application, start, store } from "../support/one-application.js";

describe("isValidIdpUrl", () => {
  afterEach(() => application.stop());
  const ROWS: [string, boolean][] = [
    ["https://docs.idp.example/", true],
    ["https://docs.idp.example/d/1?x=1#y", true],
    ["https://docs.idp.example", true],
    ["http://docs.idp.example/", false],
    ["https://docs.idp.example:443/", false],
    ["https://docs.idp.example:8443/", false],
    ["https://user@docs.idp.example/", false],
    ["https://evil.example/docs.idp.example", false],
    ["https://docs.idp.example.evil.example/", false],
    ["https://x.docs.idp.example/", false],
    ["https://docs.idp.example@evil.example/", false],
    ["https://docs.idp.example\\@evil.example/", false],
    ["https://DOCS.idp.example/", false],
    ["https://docs.idp.example./", false],
    [" https://docs.idp.example/", false],
    ["//docs.idp.example/", false],
    ["docs.idp.example", false],
    ["javascript:alert(1)", false],
    ["", false],
  ];
  it("accepts exactly the provider's document hostnames over https", () => {
    const isValid = (url: string) => isValidIdpUrl(url, ["docs.idp.example"]);
    expect(ROWS.map(([url]) => [url, isValid(url)])).toEqual(ROWS);
    for (const value of [undefined, null, 1, {}]) expect(isValid(value as string)).toBe(false);
  });

  it("of an auth object takes the issuer's hostname", async () => {
    await start();
    expect(application.auth.isValidIdpUrl("https://127.0.0.1/x")).toBe(true);
    expect(application.auth.isValidIdpUrl("https://docs.google.com/x")).toBe(false);
    expect(store.operations).toEqual([]);
    expect(application.provider.requests).toEqual([]);
  });
});
