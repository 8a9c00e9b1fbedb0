import { fileURLToPath } from "node:url";

/** @type {import("next").NextConfig} */
export default {
  // Where Next.js and React are, seen from the folder that it is built in.
  turbopack: { root: fileURLToPath(new URL("../../../../../", import.meta.url)) },
  // The endpoints' links end with a slash; without this each of them costs a redirect.
  skipTrailingSlashRedirect: true,
  poweredByHeader: false,
  // The types are checked by themselves, from the package's source.
  typescript: { ignoreBuildErrors: true },
};
