import assert from "node:assert/strict";
import {
  ACCEPTS_JSON,
  assertPage,
  assertProblem,
  assertRedirect,
  probe,
  SAYS_SCRIPT,
} from "./assertions.js";
import { ownCookies, SIGNED_IN } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const LOGIN = "/idpauth/login/";
const INDEX = "/idpauth/";
const login = (parameters: Readonly<Record<string, string>>) =>
  `${LOGIN}?${new URLSearchParams(parameters).toString()}`;

export const loginRequirements: readonly AdapterRequirement[] = [
  {
    area: "login",
    title: "each scheme reads the origin only from its own place and ignores unknown parameters",
    async check(starter) {
      const app = await starter.start();
      const page = `${app.origin}/reports`;
      const browser = app.browser();
      const rows: readonly (readonly [
        query: Record<string, string>,
        headers: Record<string, string>,
      ])[] = [
        [{ scheme: "PRESERVE_ORIGIN_QP", response: "json" }, { "x-origin-url": page }],
        [{ scheme: "PRESERVE_ORIGIN_HP", response: "json", origin_url: page }, {}],
        [
          {
            scheme: "PRESERVE_ORIGIN_QP",
            response: "json",
            ORIGIN_URL: page,
            final_redirect: page,
            credentials: "x",
          },
          {},
        ],
      ];
      for (const [query, headers] of rows) {
        const response = await browser.get(login(query), { headers });
        const { redirect_to: authorizationUrl } = response.json() as { redirect_to: string };
        assertRedirect(await browser.get(await app.provider.signInCode(authorizationUrl)), INDEX);
      }
    },
  },
  {
    area: "login",
    title:
      "a login whose Host header differs from BASE_URL is redirected to the same address there; with BASE_URL's own there is no loop",
    async check(starter) {
      const app = await starter.start({ options: { baseUrl: "http://app.example" } });
      const query =
        "scheme=PRESERVE_ORIGIN_QP&origin_url=http%3A%2F%2Fapp.example%2Fx%3Fa%3D1%26b%3D2";
      const browser = app.browser({ proxied: { "http://app.example": app.port } });
      const sent = await browser.navigate(`${app.origin}${LOGIN}?${query}`);
      const there = new URL(sent.location ?? "");
      assert.deepEqual(
        [sent.status, there.origin, there.pathname],
        [302, "http://app.example", LOGIN],
      );
      assert.deepEqual([...there.searchParams], [...new URLSearchParams(query), ["idp_hop", "1"]]);
      assert.deepEqual([ownCookies(sent), app.provider.requests], [[], []]);
      assertRedirect(
        await browser.navigate(await app.approved(browser, there.href)),
        "http://app.example/x?a=1&b=2",
      );
    },
  },
  {
    area: "login",
    title:
      "a login that comes back from BASE_URL with another Host header gets a 500 that names both, and no endless redirect",
    async check(starter) {
      const app = await starter.start({ options: { baseUrl: "http://app.example" } });
      const sent = await app.browser().navigate(`${LOGIN}?scheme=LANDING_PAGE`);
      const { pathname, search } = new URL(sent.location ?? "");
      assertPage(await app.browser().navigate(pathname + search), 500, "login_loop");
      const document = await app.browser().get(pathname + search, {
        headers: { ...ACCEPTS_JSON, ...SAYS_SCRIPT },
      });
      assertProblem(document, 500, "login_loop");
      for (const name of ["http://app.example", `127.0.0.1:${app.port}`])
        assert.ok(document.text.includes(name), `the problem document does not name ${name}`);
      const lines = app.log.filter(({ code }) => code === "login_loop");
      assert.ok(
        lines.length > 0 && lines.every(({ level }) => level === "error"),
        "the log does not say it",
      );
      assert.deepEqual(ownCookies(document), []);
    },
  },
  {
    area: "login",
    title: "a login of a signed-in user leaves the session unchanged until the callback succeeds",
    async check(starter) {
      const app = await starter.start();
      const browser = await app.signedIn();
      const callback = await app.approved(browser);
      assert.deepEqual(await probe(browser), SIGNED_IN);
      assert.equal((await browser.get("/reports")).json().token, app.newest("access_token"));
      assertRedirect(await browser.navigate(callback), INDEX);
      assert.deepEqual(await probe(browser), SIGNED_IN);
    },
  },
];
