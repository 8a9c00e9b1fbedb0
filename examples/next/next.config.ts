import type { NextConfig } from "next";

// The endpoints' links end with a slash; without this each costs a redirect.
const config: NextConfig = { skipTrailingSlashRedirect: true };

export default config;
