import { hasClaim } from "idpauth";
import { NextResponse, type NextProxy } from "next/server";
import { auth } from "./lib/auth";

const admin = auth.idpRequiredWith({
  allow: hasClaim("groups", "admin"),
  // Shows app/no-access/page.tsx. The address stays the same.
  forbidden: (request) => NextResponse.rewrite(new URL("/no-access", request.url), { status: 403 }),
})(auth.proxy);

/** Guards the pages of the matcher: nothing of them is rendered for those who may not see them. */
export const proxy: NextProxy = (request, event) =>
  request.nextUrl.pathname.startsWith("/admin")
    ? admin(request, event)
    : auth.proxy(request, event);
export const config = { matcher: ["/reports/:path*", "/admin/:path*"] };
