import type { NextRequest } from "next/server";
import { firstAuth } from "../../../../lib/auth";
import { setup } from "../../../../lib/setup";

// An application writes: export const GET = auth.proxyApi("orders");
async function proxy(request: NextRequest): Promise<Response> {
  const auth = await firstAuth();
  const [{ api, rule, isAfterParser } = { api: "orders" }] = setup().proxied;
  if (isAfterParser) await request.text();
  return auth.proxyApi(api, rule)(request);
}

export { proxy as GET, proxy as HEAD, proxy as POST, proxy as DELETE };
