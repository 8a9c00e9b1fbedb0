import type { NextConfig } from "next";

// The addresses of idpauth's endpoints end with a slash.
const config: NextConfig = { skipTrailingSlashRedirect: true };

export default config;
