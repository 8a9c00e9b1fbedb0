import { defineNitroConfig } from "nitropack/config";

export default defineNitroConfig({
  srcDir: "server",
  baseURL: `${process.env.BASE_PATH ?? ""}/`,
  preset: "node-server",
  compatibilityDate: "2026-11-01",
});
