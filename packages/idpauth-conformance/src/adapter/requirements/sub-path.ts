import assert from "node:assert/strict";
import { ADA, assertProblem, ownCookies, SIGNED_IN, SIGNED_OUT } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

const area = "sub-path";
const needs = "sub-path";
const basePath = "/area";

/** Paths outside the mount path, some of them similar to it. */
const OUTSIDE = [
  "/idpauth/",
  "/idpauth/session",
  "/idpauth/login/",
  "/areaidpauth/session",
  "/areax/idpauth/session",
  "/x/area/idpauth/session",
  "/area/idpauthx/session",
  "/area/session",
  "/AREA/idpauth/session",
];

export const subPathRequirements: readonly AdapterRequirement[] = [
  {
    area,
    needs,
    title: "guard, login, callback, page and logout stay below the path",
    async check(starter) {
      const app = await starter.start({ basePath });
      const browser = app.browser();
      const page = await browser.follow("/area/reports?year=2024&q=a%2Fb");
      assert.deepEqual(
        page.trail.map(({ status, url }) => [
          status,
          url.origin === app.origin ? url.pathname : "provider",
        ]),
        [
          [302, "/area/reports"],
          [302, "/area/idpauth/login/"],
          [302, "provider"],
          [302, "/area/idpauth/login-callback"],
          [200, "/area/reports"],
        ],
      );
      assert.deepEqual(
        [page.url.search, page.json()],
        ["?year=2024&q=a%2Fb", { user: ADA, token: app.newest("access_token") }],
      );
      assert.deepEqual((await browser.get("/area/idpauth/session")).json(), SIGNED_IN);
      const out = await browser.navigate("/area/idpauth/logout/");
      assert.deepEqual([out.status, out.location], [302, "/area/idpauth/"]);
      assert.deepEqual((await browser.get("/area/idpauth/session")).json(), SIGNED_OUT);
    },
  },
  {
    area,
    needs,
    title: "the endpoints, the guard's addresses and the cookie's name contain the whole path",
    async check(starter) {
      const app = await starter.start({ basePath });
      const browser = app.browser();
      assert.equal((await browser.get("/area/reports")).json().login_url, "/area/idpauth/login/");
      assert.equal((await browser.get("/area/idpauth")).status, 200);
      const index = await browser.navigate("/area/idpauth/");
      assert.ok(index.text.includes('href="/area/idpauth/login/"'), index.text);
      assert.equal((await browser.get("/area/idpauth/style.css")).status, 200);
      assertProblem(await browser.get("/area/idpauth/nothing"), 404, "not_found");
      const login = await browser.navigate("/area/idpauth/login/");
      assert.equal(
        new URL(login.location ?? "").searchParams.get("redirect_uri"),
        `${app.origin}/area/idpauth/login-callback`,
      );
      if (starter.session === "bundled") {
        assert.deepEqual(
          ownCookies(login).map((line) => line.split("=", 1)[0]),
          ["idpauth.area.idpauth"],
        );
      }
    },
  },
  {
    area,
    needs,
    title: "addresses outside the path belong to the application",
    async check(starter) {
      const app = await starter.start({ basePath });
      const browser = await app.signedIn();
      for (const path of OUTSIDE) {
        const response = await browser.get(path);
        assert.deepEqual(
          [path, response.status, response.headers["referrer-policy"]],
          [path, 404, undefined],
        );
        assert.ok(
          !response.text.includes("authenticated") && !response.text.includes("not_found"),
          `${path}: ${response.text}`,
        );
      }
      assert.equal((await browser.get("/area/public")).status, 200);
      assert.deepEqual((await browser.get("/area/idpauth/session")).json(), SIGNED_IN);
    },
  },
];
