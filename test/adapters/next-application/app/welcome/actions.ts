"use server";

import { redirect } from "next/navigation";
import { firstAuth } from "../../lib/auth";

/** A server action that is for members only. */
export async function whoAmI(): Promise<void> {
  const auth = await firstAuth();
  const { user } = await auth.requireSession({ returnTo: "/welcome" });
  redirect(`/members?q=${encodeURIComponent(user.email ?? "")}`);
}
