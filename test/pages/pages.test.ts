import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IdpRequest } from "../../src/http/request-and-replies.js";
import { contrast } from "../../src/pages/colors.js";
import type { PageDescription } from "../../src/pages/page-description.js";
import type { PagesOptions } from "../../src/pages/page-options.js";
import { createPages, type PagesParts } from "../../src/pages/pages.js";
import { STYLE } from "../../src/pages/style.js";
import { tagsOf, textOf } from "./tags.js";

const publicPath = "/idpauth/";
const ada = { email: "ada@example.com", name: "Ada", picture: "https://pictures.example/ada.png" };

function requestIn(language?: string): IdpRequest {
  return {
    method: "GET",
    target: publicPath,
    scheme: "https",
    host: "app.example",
    header: (name) => (name === "accept-language" ? language : undefined),
  };
}

function signedOut(options: PagesOptions, language?: string, parts?: Partial<PagesParts>) {
  return createPages({ publicPath, options, ...parts }).landing({ state: { kind: "signed_out" } }, requestIn(language));
}

const policyOf = ({ headers }: { headers: Readonly<Record<string, string>> }) => headers["Content-Security-Policy"]?.split("; ") ?? [];
const imagesOf = (reply: { headers: Readonly<Record<string, string>> }) => policyOf(reply).filter((line) => line.startsWith("img-src"));

describe("name, logo and start page", () => {
  it("stand in the header and in the title", () => {
    const { body = "" } = signedOut({ name: "Shop & <Co>", homeHref: "/?a=1&b=2" });
    expect(body).toContain("<title>Signed out – Shop &amp; &lt;Co&gt;</title>");
    const header = body.slice(body.indexOf("<header"), body.indexOf("</header>"));
    expect(header).toContain('<a href="/?a=1&amp;b=2">');
    expect(header).toContain("Shop &amp; &lt;Co&gt;");
    expect(tagsOf(body).filter(({ name, end }) => name === "main" && !end)).toHaveLength(1);
  });

  it("are absent without the option", () => {
    const reply = signedOut({});
    expect(reply.body).not.toContain("<header");
    expect(imagesOf(reply)).toEqual([]);
  });

  it("a start page without a name has a link in the page's language", () => {
    expect(textOf(signedOut({ homeHref: "/", locale: "de" }).body ?? "")).toMatch(/^Startseite /);
  });

  it("the page of a signed-in user leads on to the start page", () => {
    const { body = "" } = createPages({ publicPath, options: { homeHref: "/shop" } }).landing(
      { state: { kind: "signed_in", user: ada } },
      requestIn(),
    );
    expect(body).toContain('<a class="button" href="/shop">Continue</a>');
  });

  it.each([
    ["/logo.svg", "'self'"],
    ["https://cdn.example/a/logo.svg?v=2#x", "https://cdn.example/a/logo.svg"],
    ["https://cdn.example/a;script-src,b.png", "https://cdn.example/a%3Bscript-src%2Cb.png"],
  ])("the policy allows the logo %s alone", (logo, source) => {
    expect(imagesOf(signedOut({ name: "Shop", logo }))).toEqual([`img-src ${source}`]);
  });

  it("the policy allows the logo and the user's picture together", () => {
    const options = { name: "Shop", logo: { src: "/logo.svg", width: 160, height: 40 } };
    const reply = createPages({ publicPath, options }).landing({ state: { kind: "signed_in", user: ada } }, requestIn());
    expect(imagesOf(reply)).toEqual(["img-src 'self' https://pictures.example"]);
    const logo = tagsOf(reply.body ?? "").find(({ name }) => name === "img")?.attributes;
    expect(Object.fromEntries(logo ?? [])).toEqual({ src: "/logo.svg", alt: "Shop", width: "160", height: "40" });
  });
});

describe("the language", () => {
  it("is English, whatever the browser prefers, and the response does not vary by it", () => {
    const reply = signedOut({}, "de");
    expect(reply.body).toContain('<html lang="en" dir="ltr">');
    expect([reply.headers["Vary"], reply.headers["Content-Language"]]).toEqual(["Cookie", undefined]);
  });

  it("with `auto` is the browser's, and the response says so", () => {
    const reply = signedOut({ locale: "auto" }, "fr;q=0.2, ar-MA;q=0.9");
    expect(reply.body).toContain('<html lang="ar" dir="rtl">');
    expect([reply.headers["Vary"], reply.headers["Content-Language"]]).toEqual(["Cookie, Accept-Language", "ar"]);
  });

  it("reaches every page", () => {
    const pages = createPages({ publicPath, options: { locale: "de" } });
    const replies = [
      pages.landing({ state: { kind: "ended", reason: "idle", user: ada } }, requestIn()),
      pages.sessions({ sessions: [], now: 0 }, requestIn()),
      pages.popup({ isSignedIn: true, loginHref: "/", homeHref: "/" }, requestIn()),
      pages.error({ code: "store_unavailable", retryAfter: 5 }, requestIn()),
    ];
    for (const { body } of replies) expect(body).toContain('<html lang="de" dir="ltr">');
    expect(textOf(replies[3]?.body ?? "")).toContain("Sie wurden nicht abgemeldet. Versuchen Sie es in 5 Sekunden noch einmal.");
  });

  it("names bad parameters in it; their reasons are in English only", () => {
    const parameters = [{ name: "max_age", reason: "The parameter max_age is a number" }];
    const textIn = (locale: "en" | "de") =>
      textOf(createPages({ publicPath, options: { locale } }).error({ code: "invalid_parameter", parameters }, requestIn()).body ?? "");
    expect(textIn("en")).toContain("The parameter max_age is a number.");
    expect(textIn("de")).toContain("Der Parameter max_age hat keinen gültigen Wert.");
    expect(textIn("de")).not.toContain("is a number");
  });

  it("the technical text of a login loop is marked as English", () => {
    const { body } = createPages({ publicPath, options: { locale: "ar" } }).error({ code: "login_loop", detail: "A proxy." }, requestIn());
    expect(body).toContain('<p lang="en" dir="ltr">A proxy.</p>');
  });
});

describe("the application's own lines", () => {
  it("replace those of their language, and are escaped after substitution", () => {
    const messages = { de: { "signedOut.heading": "<b>Hallo</b>", "title.named": "{name}: {title}" } };
    const { body = "" } = signedOut({ locale: "de", name: "<i>", messages });
    expect(body).toContain("<h1>&lt;b&gt;Hallo&lt;/b&gt;</h1>");
    expect(body).toContain("<title>&lt;i&gt;: Abgemeldet</title>");
    expect(signedOut({ locale: "en", messages }).body).toContain("You are signed out");
  });

  it("have no effect on the tags of the page", () => {
    const tags = (text: string) =>
      tagsOf(signedOut({ messages: { en: { "signedOut.heading": text } } }).body ?? "").map(({ name, end }) => [name, end]);
    const benign = tags("Hello");
    fc.assert(
      fc.property(fc.string({ unit: "binary", minLength: 1 }), (text) => {
        expect(tags(text)).toEqual(benign);
      }),
    );
  });
});

describe("colors", () => {
  const styleWith = (options: PagesOptions) => createPages({ publicPath, options }).style;

  it("without the option, the stylesheet is the default one", () => {
    expect(styleWith({})).toBe(STYLE);
    expect(styleWith({ colors: {} })).toBe(STYLE);
  });

  it("are added to the stylesheet, with a legible color on the accent", () => {
    const added = styleWith({ colors: { accent: "#0A5C36", background: "#f4f4f4" } }).slice(STYLE.length);
    expect(added).toContain(":root { --page: #f4f4f4; --accent: #0a5c36;");
    expect(added).toContain("--on-accent: #ffffff;");
    expect(styleWith({ colors: { accent: "#ffd400" } })).toContain("--on-accent: #000000;");
  });

  it("without an accent for the dark scheme, the accent is lightened until it is legible there", () => {
    for (const accent of ["#000000", "#0a5c36", "#2553c8", "#ffffff"]) {
      const dark = /prefers-color-scheme: dark\) \{ :root \{ --accent: (#[0-9a-f]{6})/.exec(
        styleWith({ colors: { accent } }).slice(STYLE.length),
      );
      expect(contrast(dark?.[1] ?? "", "#181e27")).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("never stand in a page", () => {
    expect(signedOut({ colors: { accent: "#0a5c36" } }).body).toBe(signedOut({}).body);
  });
});

describe("render", () => {
  const described = (): { pages: PageDescription[]; options: PagesOptions } => {
    const pages: PageDescription[] = [];
    return {
      pages,
      options: { name: "Shop", render: (page) => (pages.push(page), `<!doctype html><title>${String(page.status)}</title>`) },
    };
  };

  it("writes the page under the headers of idpauth", () => {
    const { pages, options } = described();
    const reply = createPages({ publicPath, options }).error({ code: "store_unavailable", retryAfter: 5 }, requestIn(), {
      "Retry-After": "5",
    });
    expect([reply.status, reply.body, reply.headers["Retry-After"]]).toEqual([503, "<!doctype html><title>503</title>", "5"]);
    expect(policyOf(reply)).toEqual(policyOf(createPages({ publicPath }).error({ code: "store_unavailable" }, requestIn())));
    expect(pages[0]).toMatchObject({
      kind: "error",
      code: "store_unavailable",
      title: "The session store cannot be reached right now – Shop",
      texts: [
        "The session store of this site does not respond. Such an outage is usually short.",
        "You have not been signed out. Try again in 5 seconds.",
      ],
      action: { label: "Try again", href: "" },
    });
  });

  it("gets everything that the page of idpauth says", () => {
    const { pages, options } = described();
    const all = createPages({ publicPath, options: { ...options, homeHref: "/" }, sessionsPage: true });
    all.landing({ state: { kind: "ended", reason: "idle", user: ada }, signInError: "access_denied" }, requestIn());
    const sessions = [{ id: "a", loginAt: 0, lastActive: null, label: "<Firefox>", current: true }];
    all.sessions({ sessions, now: 60 }, requestIn());
    all.popup({ isSignedIn: true, loginHref: "/l", homeHref: "/h" }, requestIn());
    expect(pages[0]).toMatchObject({
      kind: "ended",
      reason: "idle",
      user: ada,
      alert: "The sign-in was not completed. You did not give your consent, or your account may not use this application.",
      links: { home: { label: "Shop", href: "/" }, login: { href: "/idpauth/login/" }, sessions: { href: "/idpauth/sessions" } },
      stylesheet: "/idpauth/style.css",
    });
    expect(pages[1]?.sessions).toEqual([
      {
        id: "a",
        device: "<Firefox>",
        signedIn: "Signed in 01 Jan 1970 00:00 UTC",
        lastSeen: "Last seen at an unknown time",
        current: true,
      },
    ]);
    expect(pages[2]).toMatchObject({ kind: "popup", script: "/idpauth/popup.js", action: { href: "/h" } });
  });

  it("gets no picture that the policy does not allow", () => {
    const { pages, options } = described();
    const user = { ...ada, picture: "javascript:alert(1)" };
    createPages({ publicPath, options }).landing({ state: { kind: "signed_in", user } }, requestIn());
    expect(pages[0]?.user?.picture).toBeNull();
  });

  it.each<[string, () => unknown, boolean]>([
    ["undefined", () => undefined, false],
    ["a number", () => 5, true],
    ["null", () => null, true],
    ["a promise", () => Promise.reject(new Error("late")), true],
    [
      "an error",
      () => {
        throw new Error("broken");
      },
      true,
    ],
  ])("that gives %s leads to the page of idpauth", (_title, render, isFailure) => {
    const failures: string[] = [];
    const options = { render } as PagesOptions;
    const reply = signedOut(options, undefined, { onRenderFailed: (kind) => failures.push(kind) });
    expect(reply).toEqual(signedOut({}));
    expect(failures).toEqual(isFailure ? ["signed-out"] : []);
  });
});
