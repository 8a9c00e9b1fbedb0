import { auth } from "../../lib/auth";

export default async function Reports() {
  const user = await auth.requireUser();
  return (
    <p>
      Hello, {user.name ?? user.email}. <a href="/api/reports">As JSON</a> · <a href="/idpauth/logout/">Sign out</a>
    </p>
  );
}
