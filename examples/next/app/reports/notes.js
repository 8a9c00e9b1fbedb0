import { notes } from "../../lib/notes";
import { addNote } from "./actions";

/** A form with a server action. */
export function Notes() {
  return (
    <>
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
    </>
  );
}
