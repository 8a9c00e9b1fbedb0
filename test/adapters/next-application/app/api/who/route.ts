import type { NextRequest } from "next/server";
import { firstAuth } from "../../../lib/auth";

/** Where an application writes `export const GET = auth.idpRequired(async () => …)`. */
export async function GET(request: NextRequest): Promise<Response> {
  const auth = await firstAuth();
  const handler = auth.idpRequired(async () => {
    const [user, session] = [(await auth.clientState()).user, await auth.getSession()];
    const required = [await auth.requireSession(), await auth.requireSession(request)];
    return Response.json({
      user,
      keys: Object.keys(session ?? {}),
      required: required.map((each) => each.user.id),
    });
  });
  return handler(request);
}
