import type { NextProxy } from "next/server";
import { auth } from "./lib/auth";
import { hasOldSession, oldProxy } from "./lib/old-auth";

export const proxy: NextProxy = async (request, event) => {
  // During an outage, auth.proxy responds with 503.
  const session = await auth.getSession(request, { ifUnavailable: "outage" });
  const isMoving = process.env["SIGN_IN_WITH"] === "idpauth";
  if (session === null && (!isMoving || (await hasOldSession(request))))
    return oldProxy(request, event);
  return auth.proxy(request, event);
};
export const config = { matcher: ["/reports/:path*"] }; // your own matcher
