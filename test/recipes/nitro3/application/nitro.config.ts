import { defineNitroConfig } from "nitro/config";

export default defineNitroConfig({
  srcDir: "server",
  preset: "node-server",
  compatibilityDate: "2026-11-01",
});
