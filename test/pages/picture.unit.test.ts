import { describe, expect, it } from "vitest";
import { page } from "../../src/pages/page-reply.js";
import { acceptablePicture, MAX_PICTURE_URL_LENGTH } from "../../src/pages/picture.js";

const longest = `https://pictures.example/${"a".repeat(MAX_PICTURE_URL_LENGTH - "https://pictures.example/".length)}`;

describe("a picture is acceptable", () => {
  it.each([
    [
      "https://pictures.example/a/b.png?s=96#x",
      "https://pictures.example/a/b.png?s=96#x",
      "https://pictures.example",
    ],
    [
      "https://pictures.example:8443/a",
      "https://pictures.example:8443/a",
      "https://pictures.example:8443",
    ],
    ["HTTPS://Pictures.Example:443/a", "https://pictures.example/a", "https://pictures.example"],
    [
      "https://bücher.example/ü.png",
      "https://xn--bcher-kva.example/%C3%BC.png",
      "https://xn--bcher-kva.example",
    ],
    [
      'https://pictures.example/"><script>',
      "https://pictures.example/%22%3E%3Cscript%3E",
      "https://pictures.example",
    ],
    ["http://127.0.0.1:4000/p.svg", "http://127.0.0.1:4000/p.svg", "http://127.0.0.1:4000"],
    ["http://localhost/p.svg", "http://localhost/p.svg", "http://localhost"],
    [longest, longest, "https://pictures.example"],
  ])("%s", (raw, src, origin) => {
    expect(acceptablePicture(raw)).toEqual({ src, origin });
  });
});

describe("a picture is not acceptable", () => {
  it.each([
    ["no string: null", null],
    ["no string: undefined", undefined],
    ["no string: a number", 7],
    ["no string: a list", ["https://pictures.example/a.png"]],
    ["empty", ""],
    ["a script", "javascript:alert(1)"],
    ["a script in other letters", "JaVaScRiPt:alert(1)"],
    ["a script behind a line feed", "java\nscript:alert(1)"],
    ["data", "data:image/png;base64,AAAA"],
    ["a blob", "blob:https://pictures.example/1"],
    ["a file", "file:///etc/passwd"],
    ["relative to the scheme", "//pictures.example/a.png"],
    ["relative to the origin", "/a.png"],
    ["relative to the page", "a.png"],
    ["https without its slashes", "https:pictures.example/a.png"],
    ["https with one slash too many", "https:///pictures.example/a.png"],
    ["backslashes", "https:\\\\pictures.example\\a.png"],
    ["a space before it", " https://pictures.example/a.png"],
    ["a tab inside", "https://pictures\t.example/a.png"],
    ["a control character", "https://pictures.example/\u0000"],
    ["a user", "https://ada@pictures.example/a.png"],
    ["a user and a password", "https://ada:secret@pictures.example/a.png"],
    ["http on a public host", "http://pictures.example/a.png"],
    ["http on a host that begins like loopback", "http://localhost.evil.example/a.png"],
    ["http on a host that begins like a loopback address", "http://127.0.0.1.evil.example/a.png"],
    ["no host", "https://"],
    ["a host that writes into the policy", "https://x;script-src/a.png"],
    ["a wildcard host", "https://*.example/a.png"],
    ["a host with a comma", "https://a,b/a.png"],
    ["a host with a quote", "https://'self'/a.png"],
    ["an address that no policy can name", "https://[2001:db8::1]/a.png"],
    ["one character too long", `${longest}a`],
    ["too long once it is encoded", `https://pictures.example/${"ü".repeat(1000)}`],
    ["a megabyte", `https://pictures.example/${"a".repeat(1_000_000)}`],
  ])("%s", (_name, raw) => {
    expect(acceptablePicture(raw)).toBeUndefined();
  });

  it("and what is accepted adds one source and nothing else to the page's policy", () => {
    const picture = acceptablePicture("https://pictures.example/a.png");
    const policy = page(200, "", { images: picture === undefined ? [] : [picture.origin] }).headers[
      "Content-Security-Policy"
    ];
    expect(policy?.split("; ").filter((directive) => directive.startsWith("img-src"))).toEqual([
      "img-src https://pictures.example",
    ]);
  });
});
