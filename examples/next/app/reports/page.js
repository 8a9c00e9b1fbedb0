import { auth } from "../../lib/auth";
import { Session, UserName } from "../session";
import { Notes } from "./notes";

export default async function Reports() {
  await auth.requireUser();
  return (
    <Session initialState={await auth.clientState()}>
      Hello, <UserName />. <a href="/api/reports">As JSON</a> · <a href="/idpauth/logout/">Sign out</a>
      <Notes />
    </Session>
  );
}
