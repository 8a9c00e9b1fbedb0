import { afterEach, describe, expect, it } from "vitest";
import { deny } from "../../src/index.js";
import {
  OWN_ORIGIN,
  type Answer,
  type ApplicationOptions,
  type TestUser,
} from "../support/application.js";
import { application, start as startPlain } from "../support/one-application.js";

const ADA = { sub: "ada", email: "ada@example.com" };
const EVE = { sub: "eve", email: "eve@example.com" };
const PAGE = `${OWN_ORIGIN}/reports?year=2024&x=1`;
const FROM_PAGE = `/idpauth/login/?${new URLSearchParams({ scheme: "PRESERVE_ORIGIN_QP", origin_url: PAGE }).toString()}`;

afterEach(() => application.stop());

/** An application that refuses Eve. */
const start = (options: ApplicationOptions = {}) =>
  startPlain({
    onSignIn: ({ claims }) => (claims.sub === "eve" ? deny() : undefined),
    ...options,
  });

/** The address and the label of the page's link. */
function linkOf({ body = "" }: Answer): [href: string, label: string] {
  const [, href = "", label = ""] = /<a class="button" href="([^"]*)">([^<]*)</.exec(body) ?? [];
  return [href.replaceAll("&amp;", "&"), label];
}

const promptOf = async (user: TestUser, login: string) =>
  new URL((await user.get(login)).location).searchParams.get("prompt");

describe("the page of a refused sign-in", () => {
  it("offers another account, which the user picks at the provider and which redirects to the requested page", async () => {
    const user = await start();
    application.provider.discoveryDocument = (document) => ({
      ...document,
      prompt_values_supported: ["login", "select_account"],
    });
    const page = await user.signIn(FROM_PAGE, EVE);
    const [href, label] = linkOf(page);
    expect([page.status, label]).toEqual([403, "Use another account"]);
    expect(await promptOf(user, href)).toBe("select_account");
    const answer = await user.signIn(href, ADA);
    expect([answer.status, answer.location]).toEqual([302, PAGE]);
    expect(await user.isSignedIn()).toBe(true);
  });

  it("is shown again if the provider sends the same user without a question; nothing redirects", async () => {
    const user = await start();
    const [href] = linkOf(await user.signIn(FROM_PAGE, EVE));
    const again = await user.signIn(href, EVE);
    expect([again.status, again.location]).toEqual([403, ""]);
    expect(linkOf(again)).toEqual([href, "Use another account"]);
    expect((await user.signIn(href, ADA)).location).toBe(PAGE);
  });

  it.each([
    ["the default page", "/idpauth/login/", {}, `${OWN_ORIGIN}/idpauth/`],
    [
      "a configured page",
      "/idpauth/login/",
      { authFinalRedirectUrl: "/home" },
      `${OWN_ORIGIN}/home`,
    ],
    [
      "a configured page of another origin",
      "/idpauth/login/",
      { authFinalRedirectUrl: "https://www.example/home" },
      "https://www.example/home",
    ],
  ])("redirects to %s too", async (_page, login, options, expected) => {
    const user = await start(options);
    const [href] = linkOf(await user.signIn(login, EVE));
    expect((await user.signIn(href, ADA)).location).toBe(expected);
  });

  it.each([
    ["en", "Use another account"],
    ["de", "Anderes Konto verwenden"],
    ["fr", "Utiliser un autre compte"],
    ["es", "Usar otra cuenta"],
    ["ja", "別のアカウントを使う"],
    ["ar", "استخدام حساب آخر"],
  ])("offers it in %s", async (language, label) => {
    const user = await start({ pages: { locale: "auto" } });
    const back = await user.approve(FROM_PAGE, EVE);
    expect(linkOf(await user.get(back, { headers: { "accept-language": language } }))[1]).toBe(
      label,
    );
  });

  it("offers it for refused claims too", async () => {
    const user = await start({
      claims: {
        "~standard": {
          version: 1,
          vendor: "test",
          validate: () => ({ issues: [{ message: "x" }] }),
        },
      },
    });
    expect(linkOf(await user.signIn(FROM_PAGE, EVE))[1]).toBe("Use another account");
  });

  it("is logged as sign_in_denied at level info; the event failure has this reason", async () => {
    const user = await start();
    const reasons: string[] = [];
    application.auth.on("failure", ({ reason, kind }) => reasons.push(`${kind} ${reason}`));
    await user.signIn(FROM_PAGE, EVE);
    expect(
      application.log.filter(({ code }) => !code.startsWith("W") && code !== "started"),
    ).toEqual([{ level: "info", code: "sign_in_denied", message: "`onSignIn` refused a user." }]);
    expect(reasons).toEqual(["refusal sign_in_denied"]);
  });
});
