import { findUser } from "../lib/user";

export default async function Home() {
  const user = await findUser();
  // No <Link>: it would prefetch the logout.
  return user === undefined ? <a href="/reports">Reports</a> : <a href="/sign-out">Sign out</a>;
}
