import Link from "next/link";
import { firstAuth } from "../../../lib/auth";

/** Guarded by the proxy alone. */
export default async function Member({ params }: { params: Promise<{ name: string }> }) {
  const auth = await firstAuth();
  const [{ name }, credentials] = await Promise.all([params, auth.getCredentials()]);
  return (
    <>
      <h1>About {name}</h1>
      <p>The access token {credentials === null ? "is missing" : "is here"}.</p>
      <nav>
        <Link href="/members">All members</Link>
      </nav>
    </>
  );
}
