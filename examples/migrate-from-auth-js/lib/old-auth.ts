import { getToken } from "next-auth/jwt";
import type { NextProxy, NextRequest } from "next/server";
import { auth, signOut } from "../auth";

export { auth as oldAuth } from "../auth";

/** What proxy.ts exported until now. */
export const oldProxy = auth as unknown as NextProxy;

export const oldUser = async () => (await auth())?.user;

/** For proxy.ts. It doesn't run the `jwt` callback, whose refreshed tokens it couldn't store. */
export async function hasOldSession(request: NextRequest) {
  const secureCookie = request.cookies
    .getAll()
    .some(({ name }) => name.startsWith("__Secure-authjs.session-token"));
  const secret = process.env["AUTH_SECRET"];
  return (await getToken({ req: request, secret, secureCookie })) !== null;
}

export const endOldSession = () => signOut({ redirect: false });
