import NextAuth from "next-auth";
import type { NextRequest } from "next/server";
import { auth } from "../../../../lib/auth";
import { authOptions } from "../../../../lib/auth-options";
import { findUser } from "../../../../lib/user";

const handler = NextAuth(authOptions);
export { handler as POST };

export async function GET(request: NextRequest, context: unknown) {
  const isSession = request.nextUrl.pathname.endsWith("/session");
  if (!isSession || (await auth.getSession(request)) === null) return handler(request, context);
  const session = { user: await findUser(), expires: "9999-12-31T00:00:00Z" };
  return Response.json(session, { headers: { "cache-control": "private, no-store" } });
}
