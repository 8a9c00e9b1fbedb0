import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LandingState } from "../../src/pages/landing-page.js";
import { en } from "../../src/pages/locales/en.js";
import { SIGN_IN_ERRORS } from "../../src/record/sign-in-errors.js";
import { expectOrderlyPage } from "./expect-orderly-page.js";
import { landingPage } from "./page-documents.js";
import { landingStates } from "./states.mjs";
import { tagsOf, textOf } from "./tags.js";

const publicPath = "/idpauth/";
const ada = {
  email: "ada@example.com",
  name: "Ada Lovelace",
  picture: "https://pictures.example/ada.png",
};
const show = (state: LandingState, signInError?: string) =>
  landingPage({ publicPath, state, signInError });
const linksOf = (page: string) =>
  tagsOf(page).flatMap((tag) => (tag.name === "a" && !tag.end ? [tag.attributes.get("href")] : []));
const titleOf = (page: string) => /<title>(.*)<\/title>/.exec(page)?.[1];

describe("signed out", () => {
  const { html, pictureOrigin } = show({ kind: "signed_out" });

  it("says so and offers to sign in", () => {
    expect(titleOf(html)).toBe("Signed out");
    expect(textOf(html)).toContain("You are signed out");
    expect(linksOf(html)).toEqual(["/idpauth/login/"]);
  });

  it("loads no picture", () => {
    expect(pictureOrigin).toBeUndefined();
    expect(tagsOf(html).map((tag) => tag.name)).not.toContain("img");
  });
});

describe("signed in", () => {
  it("[BCP-11] shows name, email and picture, and the way out", () => {
    const { html, pictureOrigin } = show({ kind: "signed_in", user: ada });
    expect(titleOf(html)).toBe("Signed in");
    expect(textOf(html)).toContain("Ada Lovelace ada@example.com");
    expect(linksOf(html)).toContain("/idpauth/logout/");
    expect(pictureOrigin).toBe("https://pictures.example");
    const picture = tagsOf(html).find((tag) => tag.name === "img")?.attributes;
    expect(Object.fromEntries(picture ?? [])).toMatchObject({
      src: "https://pictures.example/ada.png",
      alt: "",
      referrerpolicy: "no-referrer",
      width: "72",
      height: "72",
    });
  });

  it.each([
    "javascript:alert(1)",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "//pictures.example/a.png",
    'x" onerror="alert(1)',
    null,
  ])("shows an initial instead of the picture %j", (picture) => {
    const { html, pictureOrigin } = show({ kind: "signed_in", user: { ...ada, picture } });
    expect(pictureOrigin).toBeUndefined();
    expect(tagsOf(html).map((tag) => tag.name)).not.toContain("img");
    expect(html).toMatch(/aria-hidden="true">A<\/span>/);
  });

  it.each([
    ["ada", "ada@example.com", "A"],
    [null, "élodie@example.com", "É"],
    ["  «ß»", null, "S"],
    ["李小龍", null, "李"],
  ])("the initial of %j and %j is %s", (name, email, initial) => {
    expect(show({ kind: "signed_in", user: { name, email, picture: null } }).html).toContain(
      `aria-hidden="true">${initial}</span>`,
    );
  });

  it.each([[true], [false], [undefined]])(
    "links to the user's sessions only if there is such a page: %s",
    (sessionsPage) => {
      const { html } = landingPage({
        publicPath,
        state: { kind: "signed_in", user: ada },
        sessionsPage,
      });
      expect(linksOf(html).includes("/idpauth/sessions")).toBe(sessionsPage === true);
    },
  );

  it.each([true, false])(
    "links to the session's status as JSON only in debug mode: %s",
    (debug) => {
      const { html } = landingPage({ publicPath, state: { kind: "signed_in", user: ada }, debug });
      expect(linksOf(html).includes("/idpauth/session")).toBe(debug);
      expect(textOf(html).includes("JSON")).toBe(debug);
    },
  );

  it("without a name, the email stands in its place, once", () => {
    const { html } = show({ kind: "signed_in", user: { ...ada, name: null } });
    expect(textOf(html).split("ada@example.com")).toHaveLength(2);
  });

  it("without name and email, says so", () => {
    expect(
      textOf(show({ kind: "signed_in", user: { email: null, name: null, picture: null } }).html),
    ).toContain("Your provider sent no name");
  });

  it("isolates the writing direction of name and email", () => {
    const { html } = show({
      kind: "signed_in",
      user: { ...ada, name: "\u202eadA", email: "\u2067a@b.example" },
    });
    expect(html).toContain("<bdi>adA</bdi>");
    expect(html).toContain("<bdi>a@b.example</bdi>");
  });
});

describe("ended", () => {
  it.each([
    ["max_age", { name: "IDP_SESSION_MAX_AGE", value: "28800" }, ["Maximum age: 8 hours"]],
    ["max_age", { name: "IDP_SESSION_MAX_AGE", value: "0" }, ["Maximum age: 0 seconds"]],
    ["max_age", undefined, ["the maximum age of a session"]],
    ["idle", { name: "IDP_SESSION_IDLE_TIMEOUT", value: "1800" }, ["Idle timeout: 30 minutes"]],
    ["idle", { name: "IDP_SESSION_IDLE_TIMEOUT", value: "1" }, ["Idle timeout: 1 second"]],
    [
      "auto_refresh_off",
      { name: "IDP_SESSION_AUTO_REFRESH", value: "off" },
      ["this site does not renew it automatically"],
    ],
    ["no_refresh_token", undefined, ["the provider did not allow this site to renew it"]],
    ["refresh_rejected", undefined, ["the provider refused to renew it"]],
    [
      "signed_in_before",
      { name: "IDP_SESSIONS_NOT_BEFORE", value: "2026-11-22T12:00:00.000Z" },
      ["everyone who signed in before a certain time"],
    ],
    ["session_expiry", undefined, ["the time limit that the identity provider set"]],
    ["logged_out_at_provider", undefined, ["You were signed out by your organization."]],
    [
      "ended_everywhere",
      undefined,
      ["This session was ended on another device, or by an administrator."],
    ],
    [
      "too_many_sessions",
      undefined,
      ["You signed in on too many devices, and this session had been unused the longest."],
    ],
  ] as const)("by %s with %j, names it and offers to sign in again", (reason, setting, words) => {
    const { html } = show({ kind: "ended", reason, setting, user: ada });
    expect(titleOf(html)).toBe("Session ended");
    expect(textOf(html)).toContain("Your session has ended");
    for (const word of words) expect(textOf(html)).toContain(word);
    expect(textOf(html)).toContain("Sign in again");
    expect(linksOf(html)[0]).toBe("/idpauth/login/");
  });

  it.each([
    ["max_age", "IDP_SESSION_MAX_AGE", "28800"],
    ["idle", "IDP_SESSION_IDLE_TIMEOUT", "1800"],
    ["auto_refresh_off", "IDP_SESSION_AUTO_REFRESH", "off"],
    ["signed_in_before", "IDP_SESSIONS_NOT_BEFORE", "2026-11-22T12:00:00.000Z"],
  ] as const)("by %s, names %s in debug mode only", (reason, name, value) => {
    const state = { kind: "ended", reason, setting: { name, value }, user: ada } as const;
    expect(textOf(landingPage({ publicPath, state, debug: true }).html)).toContain(
      `${name} = ${value}`,
    );
    expect(textOf(show(state).html)).not.toContain("IDP_");
  });

  it("of a deleted session, says why and does not show a user", () => {
    const { html, pictureOrigin } = show({ kind: "ended", reason: "ended_everywhere" });
    expect(textOf(html)).toContain("ended on another device");
    expect(textOf(html)).not.toContain("You were signed in as");
    expect(linksOf(html)).toEqual(["/idpauth/login/"]);
    expect(pictureOrigin).toBeUndefined();
  });

  it("without credentials is signed out", () => {
    expect(show({ kind: "ended", reason: "no_credentials", user: ada }).html).toContain(
      "You are signed out",
    );
  });
});

describe("a sign-in error", () => {
  const kinds: LandingState[] = [
    { kind: "signed_out" },
    { kind: "signed_in", user: ada },
    { kind: "ended", reason: "idle", user: ada },
  ];

  it.each(SIGN_IN_ERRORS)("%s is shown in its fixed words, above every state", (code) => {
    for (const state of kinds) {
      const { html } = show(state, code);
      expect(titleOf(html)).toMatch(/^Sign-in not completed – /);
      const text = textOf(html);
      expect(text).toContain(en[`signIn.${code}`]);
      expect(html.indexOf('role="alert"')).toBeGreaterThan(0);
      expect(html.indexOf('role="alert"')).toBeLessThan(html.indexOf("<h1>"));
      expect(text.slice(text.indexOf(en[`signIn.${code}`]))).toContain(textOf(show(state).html));
    }
  });

  it.each(["", "nonsense", "<script>alert(1)</script>", "__proto__", "constructor"])(
    "%j is shown as provider_error and not echoed",
    (raw) => {
      expect(show({ kind: "signed_out" }, raw)).toEqual(
        show({ kind: "signed_out" }, "provider_error"),
      );
    },
  );
});

describe("the login that failed", () => {
  const retryHref = "/idpauth/login/?scheme=PRESERVE_ORIGIN_QP&origin_url=x";
  const signInError = "access_denied";

  it("starts again from the button", () => {
    const { html } = landingPage({
      publicPath,
      state: { kind: "signed_out" },
      signInError,
      retryHref,
    });
    expect(linksOf(html)).toEqual([retryHref]);
    expect(textOf(html)).toContain("Try again");
  });

  it("starts again from the page of an ended session, too", () => {
    const state = { kind: "ended", reason: "idle", user: ada } as const;
    const { html } = landingPage({ publicPath, state, signInError, retryHref });
    expect(linksOf(html)[0]).toBe(retryHref);
  });
});

describe("every state", () => {
  it.each(Object.entries(landingStates("https://pictures.example")))(
    "%s is one well-formed page without anything inline",
    (_name, model) => {
      expectOrderlyPage(landingPage(model).html);
    },
  );

  it("stays under another mount path", () => {
    const { html } = landingPage({
      publicPath: "/auth/sign-in/",
      state: { kind: "signed_in", user: ada },
    });
    expect(html).not.toContain("/idpauth/");
    expect(html).toContain('href="/auth/sign-in/style.css"');
    expect(linksOf(html).every((href) => href?.startsWith("/auth/sign-in/"))).toBe(true);
  });

  it("has the same tags for any name that the provider gives the user", () => {
    const benign = tagsOf(show({ kind: "signed_in", user: ada }).html).map((tag) => [
      tag.name,
      tag.end,
      [...tag.attributes.keys()],
    ]);
    const hostile = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(
          fc.constantFrom(
            "<script>",
            "</bdi>",
            '"',
            "'",
            ">",
            "&",
            "onload=",
            "-->",
            "<!--",
            "\u0000",
            "`",
            "{{",
            " x ",
          ),
        )
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(hostile, hostile, (name, email) => {
        const { html } = show({
          kind: "signed_in",
          user: { ...ada, name: `a${name}`, email: `a${email}` },
        });
        expect(tagsOf(html).map((tag) => [tag.name, tag.end, [...tag.attributes.keys()]])).toEqual(
          benign,
        );
      }),
    );
  });
});
