import { NextResponse, type NextFetchEvent, type NextRequest } from "next/server";
import { hasClaim } from "idpauth";
import { firstAuth } from "./lib/auth";
import { setup } from "./lib/setup";

async function respond(request: NextRequest, event: NextFetchEvent): Promise<Response> {
  const isGuarded = request.nextUrl.pathname.startsWith("/members");
  if (!isGuarded) return NextResponse.next();
  const auth = await firstAuth();
  if (request.headers.has("x-test-own-proxy")) {
    const own = auth.idpRequired(async (member, _event: NextFetchEvent) => {
      const sessions = [await auth.requireSession(member), await auth.requireSession()];
      return Response.json(sessions.map(({ user }) => user.id));
    });
    return own(request, event);
  }
  if (request.nextUrl.pathname.startsWith("/members/admin")) {
    const admin = auth.idpRequiredWith({
      allow: hasClaim("name", "admin"),
      forbidden: () => NextResponse.rewrite(new URL("/no-access", request.url), { status: 403 }),
    });
    return admin(auth.proxy)(request, event);
  }
  return setup().csrf ? auth.csrf(auth.proxy)(request, event) : auth.proxy(request, event);
}

export async function proxy(request: NextRequest, event: NextFetchEvent): Promise<Response> {
  const answer = await respond(request, event);
  for (const [name, value] of setup().earlier) answer.headers.append(name, value);
  return answer;
}

export const config = {
  // Next.js reads a body whole before a proxy runs, so this one stands only where it has something
  // to do.
  matcher: [
    "/members/:path*",
    { source: "/:path*", has: [{ type: "header", key: "x-test-earlier" }] },
  ],
};
