"use server";

import { revalidatePath } from "next/cache";
import { auth } from "../../lib/auth";
import { notes } from "../../lib/notes";

/** After the session's end, auth.proxy leads the browser to the sign-in instead, and back to the page. */
export async function addNote(form) {
  // Anyone can call an action at another path, which the proxy may not guard.
  const user = await auth.requireUser();
  notes.push(`${user.name ?? user.email}: ${String(form.get("note")).slice(0, 100)}`);
  revalidatePath("/reports");
}
