import { describe, expect, it } from "vitest";
import { ERRORS, type ErrorCode } from "../../src/errors.js";
import { ownText } from "../../src/pages/texts.js";
import { errorPage } from "./page-documents.js";
import { errorStates } from "./states.mjs";
import { tagsOf, textOf } from "./tags.js";
import { textsIn } from "./texts-in.js";

const publicPath = "/idpauth/";
const linksOf = (page: string) =>
  tagsOf(page).flatMap((tag) => (tag.name === "a" && !tag.end ? [tag.attributes.get("href")] : []));
const codes = Object.keys(ERRORS) as ErrorCode[];

describe("an error page", () => {
  it.each(codes)("for %s has its title, its status, its code and nothing inline", (code) => {
    const page = errorPage({ publicPath, code });
    const tags = tagsOf(page);
    expect(page).toContain(`<code>${code}</code>`);
    expect(textOf(page)).toContain(ownText(`error.${code}`, textsIn("en")) ?? ERRORS[code].title);
    expect(textOf(page)).toContain(`Error ${ERRORS[code].status}`);
    expect(tags.filter((tag) => tag.name === "h1" && !tag.end)).toHaveLength(1);
    expect(tags.filter((tag) => ["script", "style"].includes(tag.name))).toEqual([]);
    expect(
      tags
        .flatMap((tag) => [...tag.attributes.keys()])
        .filter((name) => name === "style" || name.startsWith("on")),
    ).toEqual([]);
  });

  it.each(Object.entries(errorStates))("%s has a way on", (_name, model) => {
    expect(linksOf(errorPage(model))).toHaveLength(1);
  });

  it.each(["login_link_invalid", "sign_in_refused"] as const)(
    "for %s starts the sign-in again",
    (code) => {
      expect(linksOf(errorPage({ publicPath, code }))).toEqual(["/idpauth/login/"]);
    },
  );

  it("for login_link_invalid says what is the matter", () => {
    expect(textOf(errorPage({ publicPath, code: "login_link_invalid" }))).toContain(
      "This sign-in link is no longer valid",
    );
  });

  it.each(["provider_unavailable", "store_unavailable", "session_missing"] as const)(
    "for %s says that a user who was signed in still is, and offers to try again",
    (code) => {
      const page = errorPage({ publicPath, code, detail: "Words of the endpoint.", retryAfter: 5 });
      expect(textOf(page)).toContain(
        "Words of the endpoint. If you were signed in, you still are. Try again in 5 seconds. Try again",
      );
      expect(linksOf(page)).toEqual([""]);
    },
  );

  it("for a session that the provider does not renew offers the sign-in at once", () => {
    const action = { label: "action.signInAgain", href: "/idpauth/login/" } as const;
    const code = "provider_unavailable";
    const page = errorPage({ publicPath, code, isNotRenewed: true, action });
    expect(textOf(page)).toContain("Your sign-in could not be renewed");
    expect(textOf(page)).toContain("did not renew your sign-in. You can sign in again now.");
    expect(textOf(page)).not.toMatch(/not responding|cannot be reached/);
    expect(linksOf(page)).toEqual(["/idpauth/login/"]);
  });

  it.each([
    [0, "1 second."],
    [1, "1 second."],
    [1.2, "2 seconds."],
    [60, "1 minute."],
    [90, "1 minute 30 seconds."],
  ])("says a retryAfter of %d as %s", (retryAfter, words) => {
    expect(textOf(errorPage({ publicPath, code: "store_unavailable", retryAfter }))).toContain(
      `Try again in ${words}`,
    );
  });

  it.each(["provider_unavailable", "store_unavailable", "session_missing", "hook_failed"] as const)(
    "for %s says nothing about a session to a browser that has none",
    (code) => {
      const text = (retryAfter?: number) =>
        textOf(errorPage({ publicPath, code, detail: "Why.", retryAfter, isStranger: true }));
      expect(text()).toContain("Why. Please try again in a moment. Try again");
      expect(text(5)).toContain("Why. Try again in 5 seconds. Try again");
    },
  );

  it("after a form in an outage says that nothing was processed, and has no link, which would drop the input", () => {
    const form = { publicPath, code: "provider_unavailable", isForm: true } as const;
    const page = errorPage({ ...form, isUnprocessed: true, retryAfter: 5 });
    expect(textOf(page)).toContain(
      "If you were signed in, you still are. What you sent has not been processed. To send it again, reload this page in 5 seconds. Error",
    );
    expect(linksOf(page)).toEqual([]);
    const unknown = errorPage({ ...form, retryAfter: 5 });
    expect(textOf(unknown)).not.toContain("processed");
    expect(linksOf(unknown)).toEqual([]);
    const action = { label: "action.signInAgain", href: "/idpauth/login/" } as const;
    expect(linksOf(errorPage({ ...form, action }))).toEqual([action.href]);
  });

  it("for provider_misconfigured offers a login where one helps, and otherwise says that nothing does", () => {
    const misconfigured = { publicPath, code: "provider_misconfigured", retryAfter: 60 } as const;
    const page = errorPage(misconfigured);
    expect(textOf(page)).toContain("Trying again will not help until they have corrected it.");
    expect(linksOf(page)).toEqual([]);
    const action = { label: "action.signInAgain", href: "/idpauth/login/" } as const;
    const ownSession = errorPage({ ...misconfigured, action });
    expect(textOf(ownSession)).not.toContain("Trying again");
    expect(linksOf(ownSession)).toEqual([action.href]);
  });

  it.each([
    "login_link_invalid",
    "sign_in_refused",
    "sign_in_denied",
    "claims_rejected",
    "step_up_failed",
  ] as const)("for %s says who is still signed in, if anyone is", (code) => {
    const user = { email: "grace@example.com", name: "Grace", picture: null };
    const shown = (who?: typeof user) => errorPage({ publicPath, code, user: who });
    expect(textOf(shown(user))).toMatch(/You are still signed in as grace@example\.com ?\./);
    expect(shown(user)).toContain("<bdi>grace@example.com</bdi>");
    expect(textOf(shown({ ...user, email: null as never }))).toMatch(
      /still signed in as Grace ?\./,
    );
    expect(textOf(shown({ email: null, name: null, picture: null } as never))).toMatch(
      /still signed in as an account without a name ?\./,
    );
    expect(textOf(shown())).not.toMatch(/(?:still|not) signed in/);
  });

  it("for provider_misconfigured does not ask a browser without a session to try again soon", () => {
    const page = errorPage({ publicPath, code: "provider_misconfigured", isStranger: true });
    expect(textOf(page)).not.toMatch(/signed in|in a moment/);
  });

  it.each([true, false])(
    "for login_loop has its technical cause in debug mode only: %s",
    (debug) => {
      const page = errorPage({ publicPath, code: "login_loop", detail: "Set $http_host.", debug });
      expect(textOf(page).includes("$http_host")).toBe(debug);
      expect(textOf(page).includes("in the site's log")).toBe(!debug);
    },
  );

  it("for invalid_parameter lists the valid options", () => {
    const page = errorPage({
      publicPath,
      code: "invalid_parameter",
      validOptions: { scheme: ["A", "<B>"], response: ["json"] },
    });
    expect(textOf(page)).toContain("scheme A <B> response json");
    expect(tagsOf(page).filter((tag) => tag.name === "dd" && !tag.end)).toHaveLength(3);
  });

  it("uses the words that it is given, as plain text", () => {
    const page = errorPage({
      publicPath,
      code: "not_found",
      detail: `"<script>"`,
      action: { label: "action.continue", href: `/?a="b"&c` },
    });
    expect(textOf(page)).toBe(
      `There is no page at this address "<script>" Continue Error 404 not_found`,
    );
    expect(linksOf(page)).toEqual([`/?a="b"&c`]);
  });

  it.each(["/reports?x=1", "/", "", "https://app.example/x", "http://127.0.0.1:3000/"])(
    "links to %j",
    (href) => {
      expect(
        linksOf(
          errorPage({ publicPath, code: "not_found", action: { label: "action.continue", href } }),
        ),
      ).toEqual([href]);
    },
  );

  it.each([
    "javascript:alert(1)",
    " javascript:alert(1)",
    "data:text/html,x",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "evil",
  ])("leaves out a link to %j", (href) => {
    expect(
      linksOf(
        errorPage({ publicPath, code: "not_found", action: { label: "action.continue", href } }),
      ),
    ).toEqual([]);
  });
});
