import assert from "node:assert/strict";
import type { IdpAuthOptions } from "idpauth";
import type { BrowserResponse, CookieBrowser } from "idpauth/testing";
import type { ApplicationRoute } from "../adapter-under-test.js";
import { USUAL_ROUTES, type StartedApplication } from "../application-starter.js";
import { ACCEPTS_JSON, ADA, ownCookies, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "path prefix";
const ORIGIN = "https://app.example";
const PREFIX = "/portal";
const BEHIND: IdpAuthOptions = { pathPrefix: PREFIX, trustProxy: true };

/** Returns a browser behind a proxy that strips the prefix. An address without the prefix fails. */
function outside(app: StartedApplication): CookieBrowser {
  return app.browser({ origin: ORIGIN, proxied: { [ORIGIN]: { port: app.port, strips: PREFIX } } });
}

export const pathPrefixRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title: "the whole trip works behind a proxy that strips a path prefix (option pathPrefix)",
    async check(starter) {
      await wholeTrip(await starter.start({ options: BEHIND }), "", `${PREFIX}/idpauth/`);
    },
  },
  {
    area,
    title: "the whole trip works if the application itself is mounted below a path",
    needs: "sub-path",
    async check(starter) {
      const options = { ...BEHIND, mountPath: "/area/idpauth/" };
      await wholeTrip(
        await starter.start({ basePath: "/area", options }),
        "/area",
        `${PREFIX}/area/idpauth/`,
      );
    },
  },
  {
    area,
    title: "every link of every page has the prefix",
    async check(starter) {
      const app = await starter.start({ options: { ...BEHIND, sessionMaxAge: 600 } });
      const browser = outside(app);
      app.provider.fault("discovery", { kind: "status", status: 500 });
      const away = await browser.navigate("/portal/idpauth/login/");
      assert.equal(away.status, 503);
      app.provider.clearFaults();
      app.clock.advance(61_000);
      const pages = [
        away,
        await browser.navigate("/portal/idpauth/"),
        await browser.navigate("/portal/idpauth"),
        await browser.navigate("/portal/idpauth/?error=access_denied"),
        await browser.navigate("/portal/idpauth/login/?scheme=EVIL"),
        await browser.navigate("/portal/idpauth/login-callback?state=x&code=y"),
        await browser.navigate("/portal/idpauth/nothing"),
        await browser.navigate("/portal/idpauth/logout/?response=EVIL"),
      ];
      await browser.follow("/portal/idpauth/login/");
      pages.push(await browser.navigate("/portal/idpauth/"));
      app.clock.advance(601_000);
      pages.push(await browser.navigate("/portal/idpauth/"));
      for (const page of pages) await assertLinks(browser, page);
    },
  },
  {
    area,
    title: "every redirect and every address in a JSON body has the prefix",
    async check(starter) {
      const own: ApplicationRoute = {
        kind: "json",
        method: "GET",
        path: "/own",
        guard: { mount: 0, ownResponses: true },
        respond: () => ({}),
      };
      const app = await starter.start({ options: BEHIND, routes: [...USUAL_ROUTES, own] });
      const browser = outside(app);
      assert.equal(
        (await browser.get("/portal/reports", { headers: ACCEPTS_JSON })).json().login_url,
        "/portal/idpauth/login/",
      );
      assert.equal((await browser.get("/portal/own")).json().loginUrl, "/portal/idpauth/login/");
      const loginUrl = (await browser.navigate("/portal/own?a=%2F")).json().loginUrl as string;
      assert.equal(
        new URL(loginUrl, ORIGIN).searchParams.get("origin_url"),
        `${ORIGIN}/portal/own?a=%2F`,
      );
      const login = await browser.get("/portal/idpauth/login/?response=json");
      const authorization = new URL((login.json() as { redirect_to: string }).redirect_to);
      assert.equal(
        authorization.searchParams.get("redirect_uri"),
        `${ORIGIN}/portal/idpauth/login-callback`,
      );
      const denied = `/portal/idpauth/login-callback?${new URLSearchParams({
        state: authorization.searchParams.get("state") ?? "",
        iss: app.provider.issuer,
        error: "access_denied",
      }).toString()}`;
      assert.equal(
        (await browser.navigate(denied)).location,
        "/portal/idpauth/?error=access_denied",
      );
      const logout = await browser.navigate("/portal/idpauth/logout/");
      assert.equal(logout.location, "/portal/idpauth/");
    },
  },
  {
    area,
    title:
      "the application serves the paths without the prefix; with the prefix, no path belongs to idpauth",
    async check(starter) {
      const app = await starter.start({ options: BEHIND });
      const browser = app.browser();
      for (const path of [
        "/portal/idpauth/",
        "/portal/idpauth/session",
        "/portal/idpauth/login/",
        "/portal",
      ]) {
        const response = await browser.get(path);
        assert.deepEqual(
          [path, response.status, response.headers["referrer-policy"]],
          [path, 404, undefined],
        );
      }
      assert.deepEqual((await browser.get("/idpauth/session")).json(), SIGNED_OUT);
    },
  },
];

async function wholeTrip(
  app: StartedApplication,
  basePath: string,
  endpoints: string,
): Promise<void> {
  const browser = outside(app);
  const reports = `${PREFIX}${basePath}/reports`;
  const page = await browser.follow(`${reports}?year=2024&q=a%2Fb`);
  assert.deepEqual(
    page.trail.map(({ status, url }) => [
      status,
      url.origin === ORIGIN ? url.pathname : "provider",
    ]),
    [
      [302, reports],
      [302, `${endpoints}login/`],
      [302, "provider"],
      [302, `${endpoints}login-callback`],
      [200, reports],
    ],
  );
  assert.deepEqual([page.url.search, page.json().user], ["?year=2024&q=a%2Fb", ADA]);
  const [exchange] = app.provider.requestsTo("token");
  assert.equal(exchange?.params.get("redirect_uri"), `${ORIGIN}${endpoints}login-callback`);
  for (const { name } of page.trail
    .flatMap(ownCookies)
    .map((line) => ({ name: line.split("=", 1)[0] ?? "" }))) {
    assert.equal(name, `__Host-Http-idpauth${endpoints.slice(0, -1).replaceAll("/", ".")}`);
  }
  assert.deepEqual((await browser.get(`${endpoints}session`)).json(), SIGNED_IN);
  const out = await browser.follow(`${endpoints}logout/`);
  assert.deepEqual([out.status, out.url.pathname], [200, endpoints]);
  assert.deepEqual((await browser.get(`${endpoints}session`)).json(), SIGNED_OUT);
}

/** Checks that every address in the page has the prefix and a target. */
async function assertLinks(browser: CookieBrowser, { url, text }: BrowserResponse): Promise<void> {
  const links = [...text.matchAll(/(?:href|src|action)="([^"]*)"/g)].map(([, link]) => link ?? "");
  assert.ok(links.length > 1, `${url.pathname} has no links: ${text}`);
  for (const link of links.filter((each) => !each.startsWith("https://pictures.example.com/"))) {
    assert.ok(link.startsWith("/portal/idpauth/"), `${url.href} links to ${link}`);
    if (!/log(?:in|out)/.test(link))
      assert.ok(
        (await browser.get(link)).status < 400,
        `${url.href} links to ${link}, where nothing is`,
      );
  }
}
