"use server";

import { revalidatePath } from "next/cache";
import { auth } from "../../lib/auth";
import { notes } from "../../lib/notes";

/** What the form shows: the text to keep, and a message. */
export interface NoteState {
  note?: string;
  message?: string;
}

/** Returns the new state of the form. */
export async function addNote(form: FormData): Promise<NoteState> {
  // Anyone can call an action at another path, which the proxy may not guard.
  const { user } = await auth.requireSession();
  notes.push(`${user.name ?? user.email}: ${String(form.get("note")).slice(0, 100)}`);
  revalidatePath("/reports");
  return {};
}
