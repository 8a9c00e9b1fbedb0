import type { Config } from "@react-router/dev/config";

// Where a proxy speaks https, the server sees other origins than the browser.
export default {
  basename: `${process.env.BASE_PATH ?? ""}/`,
  allowedActionOrigins: ["app.example"],
} satisfies Config;
