import assert from "node:assert/strict";
import {
  ACCEPTS_HTML,
  assertPage,
  mediaType,
  probe,
  PROBE,
  SIGNED_IN,
  SIGNED_OUT,
} from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";

export const probeRequirements: readonly AdapterRequirement[] = [
  {
    area: "probe",
    title:
      "the probe responds with 200 and exactly email, name and picture, or user null, for every Accept header",
    async check(starter) {
      const app = await starter.start();
      for (const [browser, body] of [
        [await app.signedIn(), SIGNED_IN],
        [app.browser(), SIGNED_OUT],
      ] as const) {
        for (const headers of [{}, ACCEPTS_HTML, { accept: "image/png" }]) {
          const response = await browser.get(PROBE, { headers });
          assert.deepEqual(
            [response.status, mediaType(response), response.json()],
            [200, "application/json", body],
          );
        }
      }
    },
  },
  {
    area: "probe",
    title: "names in every script arrive unchanged, in the probe and on the index page",
    async check(starter) {
      const name = 'Zoë 李 🦊 \u2028 "</script>';
      const app = await starter.start({
        provider: { person: { sub: "zoe", name, email: "zoë@exämple.com" } },
      });
      const browser = await app.signedIn();
      assert.deepEqual((await probe(browser))["user"], {
        email: "zoë@exämple.com",
        name,
        picture: null,
      });
      const page = await browser.navigate("/idpauth/");
      assertPage(page, 200, "Zoë 李 🦊", "zoë@exämple.com");
      assert.ok(page.text.trimEnd().endsWith("</html>"), "the page is cut off");
    },
  },
];
