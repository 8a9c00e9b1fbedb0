import { auth } from "../../lib/auth";
import { Session } from "../session";
import { Notes } from "./notes";

export default async function Reports() {
  const { user } = await auth.requireSession();
  return (
    <Session initialState={await auth.clientState()}>
      <p>Reports of {user.name ?? user.email}.</p>
      <a href="/api/reports">As JSON</a>
      <Notes />
    </Session>
  );
}
