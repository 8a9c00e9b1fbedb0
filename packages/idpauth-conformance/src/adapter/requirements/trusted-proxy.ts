import assert from "node:assert/strict";
import type { CookieBrowser } from "idpauth/testing";
import type { StageOptions, StartedApplication } from "../application-starter.js";
import { assertProblem, ownCookies, probe, SIGNED_IN } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "proxy";
const PUBLIC = "https://app.example";
const CALLBACK = "/idpauth/login-callback";

/** Returns a browser that reaches the application through a proxy that ends TLS. */
function outside(app: StartedApplication, origin = PUBLIC): CookieBrowser {
  return app.browser({ origin, proxied: { [origin]: app.port } });
}

function redirectUri(location: string | undefined): string | null {
  return new URL(location ?? "").searchParams.get("redirect_uri");
}

/** Checks an application that trusts its proxy. */
async function checkTrusted(app: StartedApplication, session: "bundled" | "host"): Promise<void> {
  const browser = outside(app);
  const blocked = await browser.navigate("/reports?a=b");
  assert.ok(
    blocked.location?.includes(`origin_url=${encodeURIComponent(`${PUBLIC}/reports?a=b`)}`),
    blocked.location,
  );
  const login = await browser.navigate(blocked.location ?? "");
  assert.equal(redirectUri(login.location), PUBLIC + CALLBACK);
  if (session === "bundled")
    assert.match(ownCookies(login).join("\n"), /^__Host-Http-idpauth=[^;]+;.*; Secure$/);
  const page = await browser.follow(await app.provider.signInCode(login.location ?? ""));
  assert.deepEqual([page.status, page.url.href], [200, `${PUBLIC}/reports?a=b`]);
  assert.deepEqual(await probe(browser), SIGNED_IN);

  const headers = { "x-forwarded-host": "public.example:8443" };
  const elsewhere = await browser.navigate("/idpauth/login/", { headers });
  assert.equal(redirectUri(elsewhere.location), `https://public.example:8443${CALLBACK}`);
  const guarded = await outside(app).navigate("/reports", { headers });
  assert.ok(
    guarded.location?.includes(encodeURIComponent("https://public.example:8443/reports")),
    guarded.location,
  );
  const plain = await app
    .browser()
    .navigate("/idpauth/login/", { headers: { "x-forwarded-proto": "http" } });
  assert.equal(redirectUri(plain.location), app.origin + CALLBACK);

  for (const hostile of [
    "evil.example/x",
    "a b",
    "user@evil.example",
    "x:99999",
    "[::1",
    "\\evil",
  ]) {
    assertProblem(
      await browser.get("/idpauth/login/?response=json", {
        headers: { "x-forwarded-host": hostile },
      }),
      400,
      "host_invalid",
    );
  }
  for (const odd of ["javascript", "https:", ""]) {
    const response = await app
      .browser()
      .navigate("/idpauth/login/", { headers: { "x-forwarded-proto": odd } });
    assert.equal(
      redirectUri(response.location),
      app.origin + CALLBACK,
      `X-Forwarded-Proto: ${odd}`,
    );
  }
}

/** Applications that ignore forwarded headers. */
const UNTRUSTED: readonly (readonly [title: string, options: StageOptions, redirectUri: string])[] =
  [
    ["by default forwarded headers are ignored", {}, `http://app.example${CALLBACK}`],
    [
      "with BASE_URL forwarded headers and Host are ignored",
      { options: { baseUrl: "https://base.example" } },
      `https://base.example${CALLBACK}`,
    ],
    [
      "behind a trusted proxy BASE_URL still sets the origin",
      { options: { baseUrl: "https://base.example", trustProxy: true } },
      `https://base.example${CALLBACK}`,
    ],
  ];

export const proxyRequirements: readonly AdapterRequirement[] = [
  {
    area,
    title: "the framework's own setting lets X-Forwarded-Proto and X-Forwarded-Host set the origin",
    needs: "own trust-proxy setting",
    async check(starter) {
      await checkTrusted(await starter.start({ trustsProxy: true }), starter.session);
    },
  },
  {
    area,
    title: "the option trustProxy lets X-Forwarded-Proto and X-Forwarded-Host set the origin",
    async check(starter) {
      await checkTrusted(await starter.start({ options: { trustProxy: true } }), starter.session);
    },
  },
  ...UNTRUSTED.map(([title, options, expected]): AdapterRequirement => ({
    area,
    title,
    async check(starter) {
      const app = await starter.start(options);
      const forwarded = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-port": "444",
        forwarded: "host=evil.example;proto=https",
      };
      // As JSON, because a login whose Host header differs from BASE_URL is redirected there first.
      const login = await outside(app).get("/idpauth/login/?response=json", { headers: forwarded });
      assert.equal(login.status, 200, login.text);
      assert.equal(redirectUri((login.json() as { redirect_to: string }).redirect_to), expected);
      if (starter.session === "bundled") {
        const isSecure = expected.startsWith("https:");
        assert.match(
          ownCookies(login).join("\n"),
          isSecure ? /^__Host-Http-idpauth=[^;]+;.*; Secure$/ : /^idpauth=(?!.*Secure)/,
        );
      }
      const blocked = await outside(app).navigate("/reports", { headers: forwarded });
      const page = new URL(blocked.location ?? "", PUBLIC).searchParams.get("origin_url");
      assert.equal(page, `${new URL(expected).origin}/reports`);
    },
  })),
  {
    area,
    title:
      "a login that starts under another Host header is redirected to BASE_URL with its parameters and ends there",
    async check(starter) {
      const app = await starter.start({ options: { baseUrl: PUBLIC } });
      const elsewhere = "http://www.example";
      const browser = app.browser({
        origin: elsewhere,
        proxied: { [elsewhere]: app.port, [PUBLIC]: app.port },
      });
      const query = `?scheme=PRESERVE_ORIGIN_QP&origin_url=${encodeURIComponent(`${PUBLIC}/public?a=%2F`)}`;
      const login = await browser.follow(`/idpauth/login/${query}`);
      assert.deepEqual(
        login.trail.map(({ status, url }) => [
          status,
          url.origin === app.provider.issuer ? "provider" : url.origin + url.pathname,
        ]),
        [
          [302, `${elsewhere}/idpauth/login/`],
          [302, `${PUBLIC}/idpauth/login/`],
          [302, "provider"],
          [302, PUBLIC + CALLBACK],
          [200, `${PUBLIC}/public`],
        ],
      );
      assert.deepEqual([login.trail[0]?.setCookies, login.url.search], [[], "?a=%2F"]);
      assert.deepEqual((await browser.get(`${PUBLIC}/idpauth/session`)).json(), SIGNED_IN);
    },
  },
];
