import node from "@astrojs/node";
import { defineConfig } from "astro/config";

export default defineConfig({
  base: process.env.BASE_PATH,
  output: "server",
  adapter: node({ mode: "standalone" }),
  // The names that the server answers for. Astro takes every other one for localhost.
  security: { allowedDomains: [{ hostname: "app.example", protocol: "https" }] },
});
