import type { NextRequest } from "next/server";
import { handlers } from "../../../../auth";
import { auth } from "../../../../lib/auth";
import { findUser } from "../../../../lib/user";

export const { POST } = handlers;

export async function GET(request: NextRequest) {
  const isSession = request.nextUrl.pathname.endsWith("/session");
  if (!isSession || (await auth.getSession(request)) === null) return handlers.GET(request);
  const session = { user: await findUser(), expires: "9999-12-31T00:00:00Z" };
  return Response.json(session, { headers: { "cache-control": "private, no-store" } });
}
