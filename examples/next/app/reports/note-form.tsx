"use client";

import { useSession, useSessionClient } from "idpauth/react";
import { useActionState } from "react";
import { addNote, type NoteState } from "./actions";

/** A form with a server action. It keeps its text if the session has ended. */
export function NoteForm() {
  const client = useSessionClient();
  const { account } = useSession();

  async function submit(_previous: NoteState, form: FormData): Promise<NoteState> {
    // If the session has ended, auth.proxy would redirect the browser to the login instead of
    // running the action.
    const now = await client.refresh();
    if (now.status === "signed-in" && now.account === account) return addNote(form);
    return { note: String(form.get("note")), message: "Not added. Try again." };
  }

  const [{ note, message }, action, isPending] = useActionState(submit, {});
  return (
    <form action={action}>
      <label>
        Note <input name="note" required maxLength={100} defaultValue={note} />
      </label>
      <button disabled={isPending}>Add</button>
      <output>{message}</output>
    </form>
  );
}
