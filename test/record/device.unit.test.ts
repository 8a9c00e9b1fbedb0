import { describe, expect, it } from "vitest";
import { deviceName, deviceOf } from "../../src/record/device.js";

const MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)";
const WINDOWS = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)";
const ANDROID = "Mozilla/5.0 (Linux; Android 10; K)";
const IPHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)";
const IPAD = "Mozilla/5.0 (iPad; CPU OS 18_0 like Mac OS X)";
const BLINK = "AppleWebKit/537.36 (KHTML, like Gecko)";
const WEBKIT = "AppleWebKit/605.1.15 (KHTML, like Gecko)";

describe("the name of a device", () => {
  it.each([
    [`${WINDOWS} ${BLINK} Chrome/140.0.0.0 Safari/537.36`, "Chrome on Windows"],
    [`${MAC} ${BLINK} Chrome/140.0.0.0 Safari/537.36`, "Chrome on Mac"],
    [`${ANDROID} ${BLINK} Chrome/140.0.0.0 Mobile Safari/537.36`, "Chrome on Android"],
    [
      `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${BLINK} Chrome/140.0.0.0 Safari/537.36`,
      "Chrome on ChromeOS",
    ],
    [
      `Mozilla/5.0 (X11; Linux x86_64) ${BLINK} HeadlessChrome/140.0.0.0 Safari/537.36`,
      "Chrome on Linux",
    ],
    [`${IPHONE} ${WEBKIT} CriOS/140.0 Mobile/15E148 Safari/604.1`, "Chrome on iPhone"],
    [`${WINDOWS} ${BLINK} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`, "Edge on Windows"],
    [`${ANDROID} ${BLINK} Chrome/140.0.0.0 Mobile Safari/537.36 EdgA/140.0.0.0`, "Edge on Android"],
    [`${IPHONE} ${WEBKIT} Version/18.0 EdgiOS/140.0 Mobile/15E148 Safari/604.1`, "Edge on iPhone"],
    [`${WINDOWS} ${BLINK} Chrome/140.0.0.0 Safari/537.36 OPR/124.0.0.0`, "Opera on Windows"],
    [
      `${ANDROID} ${BLINK} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`,
      "Samsung Internet on Android",
    ],
    ["Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", "Firefox on Linux"],
    ["Mozilla/5.0 (Android 15; Mobile; rv:144.0) Gecko/144.0 Firefox/144.0", "Firefox on Android"],
    [`${IPHONE} ${WEBKIT} FxiOS/144.0 Mobile/15E148 Safari/605.1.15`, "Firefox on iPhone"],
    [`${IPHONE} ${WEBKIT} Version/18.0 Mobile/15E148 Safari/604.1`, "Safari on iPhone"],
    [`${IPAD} ${WEBKIT} Version/18.0 Mobile/15E148 Safari/604.1`, "Safari on iPad"],
    [`${MAC} ${WEBKIT} Version/18.0 Safari/605.1.15`, "Safari on Mac"],
  ])("%s is %s", (userAgent, name) => {
    expect(deviceName(userAgent)).toBe(name);
    expect(deviceOf(name)).toEqual({
      browser: name.replace(/ on .*/, ""),
      system: name.replace(/.* on /, ""),
    });
  });

  it.each([
    ["an app's own window", `${IPHONE} ${WEBKIT} Mobile/15E148`, "iPhone"],
    [
      "another browser with Safari's engine",
      `Mozilla/5.0 (X11; Linux x86_64) ${WEBKIT} Version/18.0 Safari/605.1.15`,
      "Linux",
    ],
    ["another system", "Mozilla/5.0 (X11; FreeBSD amd64) Gecko/20100101 Firefox/144.0", "Firefox"],
    ["a program", "curl/8.14.1", null],
    ["nothing", undefined, null],
    ["an empty header", "", null],
  ])("names the half that is known of %s, and null without any", (_, userAgent, name) => {
    expect(deviceName(userAgent)).toBe(name);
  });

  it("reads a megabyte of header within a moment", () => {
    for (const part of ["(iPad", "(iPad Version/1 ", "Version/", "Mac"])
      expect(() => deviceName(part.repeat(1_000_000 / part.length))).not.toThrow();
  });

  it.each(["", "Firefox", "Linux on Firefox", "Firefox on Linux on Linux", "Lynx on Linux"])(
    "%j isn't a name of it",
    (text) => {
      expect(deviceOf(text)).toBeUndefined();
    },
  );
});
