// @ts-check
import { defineConfig } from "cypress";
import { browser, signedInCookie, startTestProvider } from "idpauth/testing";
import { createApp } from "./app.mjs";

export default defineConfig({
  e2e: {
    specPattern: "*.cy.mjs",
    supportFile: false,
    video: false,
    async setupNodeEvents(on, config) {
      const provider = await startTestProvider();
      const { app, auth } = createApp({ env: provider.env, clock: provider.clock });
      const { origin } = await browser(app); // listens on a free port
      on("after:run", () => provider.stop());
      on("task", {
        signedInCookie: (person) => signedInCookie(auth, person),
        /** The ID tokens expire, and the provider fails once. */
        outage() {
          provider.clock.advance(3_600_000); // milliseconds
          provider.fault("token", { kind: "status", status: 503, times: 1 });
          return null;
        },
        recovery() {
          provider.clock.advance(60_000);
          return null;
        },
      });
      return { ...config, baseUrl: origin };
    },
  },
});
