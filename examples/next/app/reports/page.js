import { auth } from "../../lib/auth";
import { notes } from "../../lib/notes";
import { Session, UserName } from "../session";
import { addNote } from "./actions";

export default async function Reports() {
  await auth.requireUser();
  return (
    <Session initialState={await auth.clientState()}>
      Hello, <UserName />. <a href="/api/reports">As JSON</a> · <a href="/idpauth/logout/">Sign out</a>
      <ul>
        {notes.map((note, index) => (
          <li key={index}>{note}</li>
        ))}
      </ul>
      <form action={addNote}>
        <label>
          Note <input name="note" required maxLength={100} />
        </label>
        <button>Add</button>
      </form>
    </Session>
  );
}
