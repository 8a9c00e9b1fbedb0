import type { NextConfig } from "next";

// The addresses of idpauth's endpoints end with a slash. Without this, each link to one causes an additional redirect.
const config: NextConfig = { skipTrailingSlashRedirect: true };

export default config;
