import type { NextRequest } from "next/server";
import type { NextIdpAuth } from "idpauth/next";
import { firstAuth } from "../../../lib/auth";

// An application writes: export const { GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS } = auth.handlers;
const answer = (method: keyof NextIdpAuth["handlers"]) => async (request: NextRequest) => (await firstAuth()).handlers[method](request);

export const GET = answer("GET");
export const HEAD = answer("HEAD");
export const POST = answer("POST");
export const PUT = answer("PUT");
export const PATCH = answer("PATCH");
export const DELETE = answer("DELETE");
export const OPTIONS = answer("OPTIONS");
