import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IdpRequest } from "../../src/http/request.js";
import { contrast } from "../../src/pages/colors.js";
import { loadMessages, type LoadMessages } from "../../src/pages/languages.js";
import type { PageDescription } from "../../src/pages/page-description.js";
import type { PagesOptions } from "../../src/pages/page-options.js";
import { popupPage } from "../../src/pages/popup-page.js";
import { createPages, type PagesParts } from "../../src/pages/pages.js";
import { STYLE } from "../../src/pages/style.js";
import { tagsOf, textOf } from "./tags.js";

const publicPath = "/idpauth/";
const address = { baseUrl: "https://app.example", trustProxy: false };
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
  return createPages({ publicPath, address, options, ...parts }).landing(
    { state: { kind: "signed_out" } },
    requestIn(language),
  );
}

const policyOf = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
  headers["Content-Security-Policy"]?.split("; ") ?? [];
const imagesOf = (reply: { headers: Readonly<Record<string, string>> }) =>
  policyOf(reply).filter((line) => line.startsWith("img-src"));

describe("name, logo and start page", () => {
  it("stand in the header and in the title", async () => {
    const { body = "" } = await signedOut({ name: "Shop & <Co>", homeHref: "/?a=1&b=2" });
    expect(body).toContain("<title>Signed out – Shop &amp; &lt;Co&gt;</title>");
    const header = body.slice(body.indexOf("<header"), body.indexOf("</header>"));
    expect(header).toContain('<a href="/?a=1&amp;b=2">');
    expect(header).toContain("Shop &amp; &lt;Co&gt;");
    expect(tagsOf(body).filter(({ name, end }) => name === "main" && !end)).toHaveLength(1);
  });

  it("are absent without the option", async () => {
    const reply = await signedOut({});
    expect(reply.body).not.toContain("<header");
    expect(imagesOf(reply)).toEqual([]);
  });

  it("a start page without a name has a link in the page's language", async () => {
    expect(textOf((await signedOut({ homeHref: "/", locale: "de" })).body ?? "")).toMatch(
      /^Startseite /,
    );
  });

  it("the page of a signed-in user continues to the start page", async () => {
    const { body = "" } = await createPages({
      publicPath,
      address,
      options: { homeHref: "/shop" },
    }).landing({ state: { kind: "signed_in", user: ada } }, requestIn());
    expect(body).toContain('<a class="button" href="/shop">Continue</a>');
  });

  it.each([
    ["/logo.svg", "https://app.example/logo.svg"],
    ["/a/logo.svg?v=2#x", "https://app.example/a/logo.svg"],
    ["/a/../b;script-src,b.png", "https://app.example/b%3Bscript-src%2Cb.png"],
    ["https://cdn.example/a/logo.svg?v=2#x", "https://cdn.example/a/logo.svg"],
    ["https://cdn.example/a;script-src,b.png", "https://cdn.example/a%3Bscript-src%2Cb.png"],
  ])("the policy allows the logo %s alone", async (logo, source) => {
    expect(imagesOf(await signedOut({ name: "Shop", logo }))).toEqual([`img-src ${source}`]);
  });

  it.each([
    ["http://localhost:3000", "http://localhost:3000/logo.svg"],
    [null, "https://app.example/logo.svg"],
    // A policy cannot name an IPv6 address.
    ["http://[::1]:3000", "'self'"],
  ])(
    "with the BASE_URL %s, the policy allows the path of the logo at that origin",
    async (baseUrl, source) => {
      const parts = { address: { baseUrl, trustProxy: false } };
      expect(
        imagesOf(await signedOut({ name: "Shop", logo: "/logo.svg" }, undefined, parts)),
      ).toEqual([`img-src ${source}`]);
    },
  );

  it("the policy allows the whole own origin where the request has no usable Host header and BASE_URL is unset", async () => {
    const pages = createPages({
      publicPath,
      address: { baseUrl: null, trustProxy: false },
      options: { name: "Shop", logo: "/logo.svg" },
    });
    for (const host of [undefined, "a b", "x;script-src *"]) {
      expect(
        imagesOf(await pages.landing({ state: { kind: "signed_out" } }, { ...requestIn(), host })),
      ).toEqual(["img-src 'self'"]);
    }
  });

  it("the policy allows the logo and the user's picture together", async () => {
    const options = { name: "Shop", logo: { src: "/logo.svg", width: 160, height: 40 } };
    const reply = await createPages({ publicPath, address, options }).landing(
      { state: { kind: "signed_in", user: ada } },
      requestIn(),
    );
    expect(imagesOf(reply)).toEqual([
      "img-src https://app.example/logo.svg https://pictures.example",
    ]);
    const logo = tagsOf(reply.body ?? "").find(({ name }) => name === "img")?.attributes;
    expect(Object.fromEntries(logo ?? [])).toEqual({
      src: "/logo.svg",
      alt: "Shop",
      width: "160",
      height: "40",
    });
  });
});

describe("the policy of a page with more than a stylesheet", () => {
  const pages = createPages({ publicPath, address, sessionsPage: true });
  const scriptsOf = (reply: { headers: Readonly<Record<string, string>> }) =>
    policyOf(reply).filter((line) => line.startsWith("script-src"));

  it("allows the icons of the providers, each by its path and only on that page", async () => {
    const providers = ["/a.svg", "/a.svg?v=2", "/b;script-src,*.png", undefined].map(
      (icon, at) => ({
        key: `p${String(at)}`,
        name: "Partner",
        href: "/idpauth/login/",
        icon,
      }),
    );
    const reply = await pages.chooser({ providers }, requestIn());
    expect(imagesOf(reply)).toEqual([
      "img-src https://app.example/a.svg https://app.example/b%3Bscript-src%2C*.png",
    ]);
    const images = tagsOf(reply.body ?? "").filter(({ name }) => name === "img");
    expect(images.map(({ attributes }) => attributes.get("alt"))).toEqual(["", "", ""]);
    expect(scriptsOf(reply)).toEqual([]);
  });

  it("allows no image without icons", async () => {
    const provider = { key: "a", name: "A", href: "/idpauth/login/" };
    expect(imagesOf(await pages.chooser({ providers: [provider] }, requestIn()))).toEqual([]);
  });

  it("allows the script of the times by its path, on the page of the sessions only", async () => {
    const reply = await pages.sessions({ sessions: [], now: 0 }, requestIn());
    expect(scriptsOf(reply)).toEqual(["script-src https://app.example/idpauth/times.js"]);
    expect(reply.body).toContain('<script src="/idpauth/times.js" defer>');
    for (const other of [
      await pages.landing({ state: { kind: "signed_out" } }, requestIn()),
      await pages.error({ code: "not_found" }, requestIn()),
    ])
      expect(scriptsOf(other)).toEqual([]);
  });
});

describe("the language", () => {
  it("is English, for any language of the browser, and the response does not vary by it", async () => {
    const reply = await signedOut({}, "de");
    expect(reply.body).toContain('<html lang="en" dir="ltr">');
    expect([reply.headers["Vary"], reply.headers["Content-Language"]]).toEqual([
      "Cookie",
      undefined,
    ]);
  });

  it("with `auto` is the browser's, and the response says so", async () => {
    const reply = await signedOut({ locale: "auto" }, "fr;q=0.2, ar-MA;q=0.9");
    expect(reply.body).toContain('<html lang="ar" dir="rtl">');
    expect([reply.headers["Vary"], reply.headers["Content-Language"]]).toEqual([
      "Cookie, Accept-Language",
      "ar",
    ]);
  });

  it("reaches every page", async () => {
    const pages = createPages({ publicPath, address, options: { locale: "de" } });
    const replies = await Promise.all([
      pages.landing({ state: { kind: "ended", reason: "idle", user: ada } }, requestIn()),
      pages.sessions({ sessions: [], now: 0 }, requestIn()),
      pages.own(requestIn(), (texts) =>
        popupPage({ isSignedIn: true, loginHref: "/", homeHref: "/" }, texts),
      ),
      pages.error({ code: "store_unavailable", retryAfter: 5 }, requestIn()),
    ]);
    for (const { body } of replies) expect(body).toContain('<html lang="de" dir="ltr">');
    expect(textOf(replies[3].body ?? "")).toContain(
      "Falls Sie angemeldet waren, sind Sie es weiterhin. Versuchen Sie es in 5 Sekunden noch einmal.",
    );
  });

  it.each<[string, string | undefined, string]>([
    ["de", undefined, "Hello there"],
    ["auto", "ja", "Hello there"],
  ])(
    "%s that cannot be loaded is English, with the application's own lines, and the next page tries again",
    async (locale, header, heading) => {
      const messages = {
        en: { "signedOut.heading": heading },
        de: { "signedOut.heading": "Hallo" },
      };
      let fails = true;
      const failed: unknown[] = [];
      const missing = new Error("Cannot find module");
      const pages = createPages({
        publicPath,
        address,
        options: { locale, messages } as PagesOptions,
        load: (language) => (fails ? Promise.reject(missing) : loadMessages(language)),
        onLanguageFailed: (language, error) => failed.push([language, error]),
      });
      const landing = () => pages.landing({ state: { kind: "signed_out" } }, requestIn(header));
      const language = header ?? locale;

      const reply = await landing();
      expect(reply.status).toBe(200);
      expect(reply.body).toContain('<html lang="en" dir="ltr">');
      expect(textOf(reply.body ?? "")).toContain(heading);
      expect(reply.headers["Content-Language"]).toBe(locale === "auto" ? "en" : undefined);
      expect(failed).toEqual([[language, missing]]);

      fails = false;
      expect((await landing()).body).toContain(`<html lang="${language}"`);
      expect(failed).toHaveLength(1);
    },
  );

  it("is loaded once, with the first page that needs it", async () => {
    const loaded: string[] = [];
    const load: LoadMessages = (language) => (loaded.push(language), loadMessages(language));
    const pages = createPages({ publicPath, address, options: { locale: "auto" }, load });
    expect(loaded).toEqual([]);
    const bodies = await Promise.all(
      ["de", "fr", "de"].map((language) =>
        pages.landing({ state: { kind: "signed_out" } }, requestIn(language)),
      ),
    );
    expect(bodies.map(({ body }) => /lang="(..)"/.exec(body ?? "")?.[1])).toEqual([
      "de",
      "fr",
      "de",
    ]);
    expect(loaded).toEqual(["de", "fr"]);
  });

  it("names bad parameters in it; their reasons are in English only", async () => {
    const parameters = [{ name: "max_age", reason: "The parameter max_age is a number" }];
    const textIn = async (locale: "en" | "de") => {
      const { body } = await createPages({ publicPath, address, options: { locale } }).error(
        { code: "invalid_parameter", parameters },
        requestIn(),
      );
      return textOf(body ?? "");
    };
    expect(await textIn("en")).toContain("The parameter max_age is a number.");
    expect(await textIn("de")).toContain("Der Parameter max_age hat keinen gültigen Wert.");
    expect(await textIn("de")).not.toContain("is a number");
  });

  it("the technical text of a login loop, in debug mode, is marked as English", async () => {
    const options = { locale: "ar" } as const;
    const { body } = await createPages({ publicPath, address, debug: true, options }).error(
      { code: "login_loop", detail: "A proxy." },
      requestIn(),
    );
    expect(body).toContain('<p lang="en" dir="ltr">A proxy.</p>');
  });
});

describe("the application's own lines", () => {
  it("replace those of their language, and are escaped after substitution", async () => {
    const messages = {
      de: { "signedOut.heading": "<b>Hallo</b>", "title.named": "{name}: {title}" },
    };
    const { body = "" } = await signedOut({ locale: "de", name: "<i>", messages });
    expect(body).toContain("<h1>&lt;b&gt;Hallo&lt;/b&gt;</h1>");
    expect(body).toContain("<title>&lt;i&gt;: Abgemeldet</title>");
    expect((await signedOut({ locale: "en", messages })).body).toContain("You are signed out");
  });

  it("have no effect on the tags of the page", async () => {
    const tags = async (text: string) => {
      const { body } = await signedOut({ messages: { en: { "signedOut.heading": text } } });
      return tagsOf(body ?? "").map(({ name, end }) => [name, end]);
    };
    const benign = await tags("Hello");
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", minLength: 1 }), async (text) => {
        expect(await tags(text)).toEqual(benign);
      }),
      { numRuns: 40 },
    );
  });
});

describe("colors", () => {
  const styleWith = (options: PagesOptions) =>
    createPages({ publicPath, address, options }).style();

  it("without the option, the stylesheet is the default one", async () => {
    expect(await styleWith({})).toBe(STYLE);
    expect(await styleWith({ colors: {} })).toBe(STYLE);
  });

  it("are added to the stylesheet, with a legible color on the accent", async () => {
    const added = (await styleWith({ colors: { accent: "#0A5C36", background: "#f4f4f4" } })).slice(
      STYLE.length,
    );
    expect(added).toContain(":root { --page: #f4f4f4; --accent: #0a5c36;");
    expect(added).toContain("--on-accent: #ffffff;");
    expect(await styleWith({ colors: { accent: "#ffd400" } })).toContain("--on-accent: #000000;");
  });

  it("without an accent for the dark scheme, the accent is lightened until it is legible there", async () => {
    for (const accent of ["#000000", "#0a5c36", "#2553c8", "#ffffff"]) {
      const dark = /prefers-color-scheme: dark\) \{ :root \{ --accent: (#[0-9a-f]{6})/.exec(
        (await styleWith({ colors: { accent } })).slice(STYLE.length),
      );
      expect(contrast(dark?.[1] ?? "", "#181e27")).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("never stand in a page", async () => {
    expect((await signedOut({ colors: { accent: "#0a5c36" } })).body).toBe(
      (await signedOut({})).body,
    );
  });
});

describe("render", () => {
  const described = (): { pages: PageDescription[]; options: PagesOptions } => {
    const pages: PageDescription[] = [];
    return {
      pages,
      options: {
        name: "Shop",
        render: (page) => (
          pages.push(page),
          `<!doctype html><title>${String(page.status)}</title>`
        ),
      },
    };
  };

  it("writes the page under the headers of idpauth", async () => {
    const { pages, options } = described();
    const reply = await createPages({ publicPath, address, options }).error(
      { code: "store_unavailable", retryAfter: 5 },
      requestIn(),
      {
        "Retry-After": "5",
      },
    );
    expect([reply.status, reply.body, reply.headers["Retry-After"]]).toEqual([
      503,
      "<!doctype html><title>503</title>",
      "5",
    ]);
    const own = await createPages({ publicPath, address }).error(
      { code: "store_unavailable" },
      requestIn(),
    );
    expect(policyOf(reply)).toEqual(policyOf(own));
    expect(pages[0]).toMatchObject({
      kind: "error",
      code: "store_unavailable",
      title: "This page isn't available right now – Shop",
      texts: [
        "This site could not check whether you are signed in. Such an outage is usually short.",
        "If you were signed in, you still are. Try again in 5 seconds.",
      ],
      action: { label: "Try again", href: "" },
    });
  });

  it("gets everything that the page of idpauth says", async () => {
    const { pages, options } = described();
    const all = createPages({
      publicPath,
      address,
      options: { ...options, homeHref: "/" },
      sessionsPage: true,
    });
    await all.landing(
      { state: { kind: "ended", reason: "idle", user: ada }, signInError: "access_denied" },
      requestIn(),
    );
    const sessions = [
      { id: "a", signedInAt: 0, lastActive: null, label: "<Firefox>", current: true },
    ];
    await all.sessions({ sessions, now: 60 }, requestIn());
    await all.own(requestIn(), (texts) =>
      popupPage({ isSignedIn: true, loginHref: "/l", homeHref: "/h" }, texts),
    );
    expect(pages[0]).toMatchObject({
      kind: "ended",
      reason: "idle",
      user: ada,
      alert:
        "The sign-in was not completed. You did not give your consent, or your account is not allowed to use this application.",
      links: {
        home: { label: "Shop", href: "/" },
        login: { href: "/idpauth/login/" },
        sessions: { href: "/idpauth/sessions" },
      },
      stylesheet: "/idpauth/style.css",
    });
    expect(pages[1]?.sessions).toEqual([
      {
        id: "a",
        device: "<Firefox>",
        signedIn: "Signed in 01 Jan 1970, 00:00 UTC",
        signedInAt: "1970-01-01T00:00:00.000Z",
        lastSeen: "Last seen at an unknown time",
        current: true,
      },
    ]);
    expect(pages[1]?.script).toBe("/idpauth/times.js");
    expect(pages[2]).toMatchObject({
      kind: "popup",
      script: "/idpauth/popup.js",
      action: { href: "/h" },
    });
  });

  it("gets no picture that the policy does not allow", async () => {
    const { pages, options } = described();
    const user = { ...ada, picture: "javascript:alert(1)" };
    await createPages({ publicPath, address, options }).landing(
      { state: { kind: "signed_in", user } },
      requestIn(),
    );
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
  ])("that gives %s redirects to the page of idpauth", async (_title, render, isFailure) => {
    const failures: string[] = [];
    const options = { render } as PagesOptions;
    const reply = await signedOut(options, undefined, {
      onRenderFailed: (kind) => failures.push(kind),
    });
    expect(reply).toEqual(await signedOut({}));
    expect(failures).toEqual(isFailure ? ["signed-out"] : []);
  });
});
