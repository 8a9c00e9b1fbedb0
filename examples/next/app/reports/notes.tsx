import { notes } from "../../lib/notes";
import { NoteForm } from "./note-form";

export function Notes() {
  return (
    <>
      <ul>
        {notes.map((note, index) => (
          <li key={index}>{note}</li>
        ))}
      </ul>
      <NoteForm />
    </>
  );
}
