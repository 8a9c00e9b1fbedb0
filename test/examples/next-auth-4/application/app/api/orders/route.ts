import { getServerSession } from "next-auth";
import type { NextRequest } from "next/server";
import { auth } from "../../../lib/auth";
import { authOptions } from "../../../lib/auth-options";

async function oldGet() {
  const session = await getServerSession(authOptions);
  if (session === null) return new Response(null, { status: 401 });
  const authorization = `Bearer ${session.accessToken}`;
  return fetch(`${process.env["ORDERS_URL"]}items`, { headers: { authorization } });
}

const newGet = auth.idpRequired(async (request) => {
  const response = await auth.fetchApi(request, "orders", "items");
  return Response.json(await response.json(), { status: response.status });
});

export async function GET(request: NextRequest) {
  const session = await auth.getSession(request, { ifUnavailable: "outage" });
  return session === null ? oldGet() : newGet(request);
}
