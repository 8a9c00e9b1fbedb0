import assert from "node:assert/strict";
import type { ApplicationRoute } from "../adapter-under-test.js";
import { GRACE } from "./assertions.js";
import { HOUR_MS, type AdapterRequirement } from "./requirement.js";

/** Gives what the accessors give about the application's own data, and adds a opened. */
const ROUTES: readonly ApplicationRoute[] = [
  {
    kind: "json",
    method: "GET",
    path: "/me",
    async respond([auth], raw) {
      const session = await auth?.getSession(raw);
      const state = await auth?.clientState(raw);
      return {
        data: session?.data ?? null,
        inBrowser: state?.data,
      };
    },
  },
  {
    kind: "json",
    method: "POST",
    path: "/openedRequests",
    async respond([auth], raw) {
      const updated = await auth?.updateData(raw, (data) => ({
        ...data,
        openedRequests: Number(data["openedRequests"]) + 1,
      }));
      return { updated, next: (await auth?.getSession(raw))?.data ?? null };
    },
  },
];

export const applicationDataRequirements: readonly AdapterRequirement[] = [
  {
    area: "accessors",
    title:
      "getSession, updateData and clientState read and write the application's own data of the request's user",
    async check(starter) {
      const app = await starter.start({
        routes: ROUTES,
        options: {
          onSignIn: ({ request }) => ({
            data: { openedRequests: 0, from: request.header("x-from") ?? null },
          }),
          clientData: ({ data }) => ({ openedRequests: data["openedRequests"] }),
        },
      });
      const [browser, other] = [app.browser(), app.browser()];
      assert.deepEqual((await browser.get("/me")).json(), {
        data: null,
        inBrowser: null,
      });
      assert.deepEqual((await browser.get("/openedRequests", { method: "POST" })).json(), {
        updated: null,
        next: null,
      });
      await browser.navigate(await app.approved(browser), { headers: { "x-from": "a test" } });
      await other.navigate(await app.approved(other, undefined, GRACE));
      for (const openedRequests of [1, 2]) {
        const data = { openedRequests, from: "a test" };
        assert.deepEqual((await browser.get("/openedRequests", { method: "POST" })).json(), {
          updated: data,
          next: data,
        });
        assert.deepEqual((await browser.get("/me")).json(), {
          data,
          inBrowser: { openedRequests },
        });
      }
      const data = { openedRequests: 0, from: null };
      assert.deepEqual((await other.get("/me")).json(), {
        data,
        inBrowser: { openedRequests: 0 },
      });
      app.clock.advance(HOUR_MS);
      assert.deepEqual(
        ((await browser.get("/me")).json() as { data: Readonly<Record<string, unknown>> }).data[
          "openedRequests"
        ],
        2,
        "a refresh lost the data",
      );
      await browser.get("/idpauth/logout/?response=json");
      assert.deepEqual((await browser.get("/me")).json(), {
        data: null,
        inBrowser: null,
      });
      assert.deepEqual(app.caught, []);
    },
  },
];
