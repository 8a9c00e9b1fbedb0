import { auth } from "./lib/auth";

// Guards these pages: sign-in for those who are signed out, 503 in an outage, and nothing of them
// is rendered before.
export const proxy = auth.proxy;
export const config = { matcher: ["/reports/:path*"] };
