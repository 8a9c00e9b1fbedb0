import assert from "node:assert/strict";
import { mediaType } from "./assertions.js";
import type { AdapterRequirement } from "./requirement.js";
const INDEX = "/idpauth/";
export const indexPageRequirements: readonly AdapterRequirement[] = [
  {
    area: "index page",
    title: "the page needs only its stylesheet, which exists",
    async check(starter) {
      const app = await starter.start();
      const page = await app.browser().navigate(INDEX);
      const href = /<link[^>]+href="([^"]+)"/.exec(page.text)?.[1];
      const sheet = await app.browser().get(href ?? "");
      assert.deepEqual([sheet.status, mediaType(sheet)], [200, "text/css"]);
      assert.doesNotMatch(page.text, /<script|<style|\sstyle=|\son\w+=/i);
      assert.doesNotMatch(sheet.text, /url\(|@import/);
    },
  },
];
