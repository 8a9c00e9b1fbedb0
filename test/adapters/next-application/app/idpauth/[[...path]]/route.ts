import type { NextRequest } from "next/server";
import type { NextIdpAuth } from "idpauth/next";
import { firstAuth } from "../../../lib/auth";
import { setup } from "../../../lib/setup";

// An application writes: export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } =
// auth.handlers;
const answer = (method: keyof NextIdpAuth["handlers"]) => async (request: NextRequest) => {
  const auth = await firstAuth();
  const handler = auth.handlers[method];
  return setup().csrf ? auth.csrf(handler)(request) : handler(request);
};

export const GET = answer("GET");
export const HEAD = answer("HEAD");
export const POST = answer("POST");
export const PUT = answer("PUT");
export const PATCH = answer("PATCH");
export const DELETE = answer("DELETE");
export const OPTIONS = answer("OPTIONS");
