import type { NextRequest } from "next/server";
import { auth } from "../../../lib/auth";
import { oldAuth } from "../../../lib/old-auth";

// What GET was until now.
const oldGet = oldAuth(async (request) => {
  if (request.auth === null) return new Response(null, { status: 401 });
  const authorization = `Bearer ${request.auth.accessToken}`;
  return fetch(`${process.env["ORDERS_URL"]}items`, { headers: { authorization } });
});

const newGet = auth.idpRequired(async (request) => {
  const response = await auth.fetchApi(request, "orders", "items");
  return Response.json(await response.json(), { status: response.status });
});

export async function GET(request: NextRequest, context: { params: Promise<{}> }) {
  const session = await auth.getSession(request, { ifUnavailable: "outage" });
  return session === null ? oldGet(request, context) : newGet(request);
}
