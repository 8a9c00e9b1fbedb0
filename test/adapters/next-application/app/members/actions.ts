"use server";

import { redirect } from "next/navigation";
import { firstAuth } from "../../lib/auth";

/** A server action of a page that the proxy guards. */
export async function greet(): Promise<void> {
  const { user } = await (await firstAuth()).requireSession();
  redirect(`/members?q=greetings%20to%20${encodeURIComponent(user.name ?? "")}`);
}
