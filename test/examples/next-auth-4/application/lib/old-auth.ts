import { getServerSession } from "next-auth";
import { withAuth } from "next-auth/middleware";
import { cookies } from "next/headers";
import type { NextProxy } from "next/server";
import { authOptions } from "./auth-options";

/** What proxy.ts exported until now. */
export const oldProxy = withAuth({}) as NextProxy;

export const oldUser = async () => (await getServerSession(authOptions))?.user;

export async function endOldSession() {
  const jar = await cookies();
  for (const { name } of jar.getAll())
    if (/next-auth\.session-token/.test(name))
      jar.set(name, "", { maxAge: 0, secure: name.startsWith("__") });
}
