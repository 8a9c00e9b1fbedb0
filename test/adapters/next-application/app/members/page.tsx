import Link from "next/link";
import { firstAuth } from "../../lib/auth";
import { greet } from "./actions";

/** Guarded by the proxy, and by itself. */
export default async function Members({
  searchParams,
}: {
  searchParams: Promise<{ q?: string | string[] }>;
}) {
  const auth = await firstAuth();
  const { user } = await auth.requireSession();
  const { q } = await searchParams;
  return (
    <>
      <h1>Welcome, {user.name}</h1>
      <p>You asked for {String(q ?? "nothing")}.</p>
      <nav>
        <Link href="/members/ada">Ada’s page</Link> <a href="/idpauth/logout/">Sign out</a>
        <a href={await auth.loginUrl()}>Sign in again</a>
      </nav>
      <form action={greet}>
        <button>Greet</button>
      </form>
    </>
  );
}
