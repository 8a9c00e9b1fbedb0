import { getServerSession } from "next-auth";
import { getToken } from "next-auth/jwt";
import { withAuth } from "next-auth/middleware";
import { cookies } from "next/headers";
import type { NextProxy, NextRequest } from "next/server";
import { authOptions } from "./auth-options";

/** What proxy.ts exported until now. */
export const oldProxy = withAuth({}) as NextProxy;

export const oldUser = async () => (await getServerSession(authOptions))?.user;

/** For proxy.ts. It doesn't run the `jwt` callback, whose refreshed tokens it couldn't store. */
export const hasOldSession = async (request: NextRequest) =>
  (await getToken({ req: request })) !== null;

export async function endOldSession() {
  const jar = await cookies();
  for (const { name } of jar.getAll())
    if (/next-auth\.session-token/.test(name))
      jar.set(name, "", { maxAge: 0, secure: name.startsWith("__") });
}
