import Link from "next/link";
import { firstAuth } from "../../lib/auth";
import { whoAmI } from "./actions";

/** For everybody, but it greets those that it knows. */
export default async function Welcome() {
  const auth = await firstAuth();
  const session = await auth.getSession();
  return (
    <>
      <h1>Hello, {session === null ? "stranger" : session.user.name}</h1>
      <nav>
        <Link href="/members">Members</Link> <Link href="/idpauth/login/">Sign in</Link>
        <a href={await auth.loginUrl()}>Sign in, and go on</a>{" "}
        <a href={await auth.loginUrl({ returnTo: "/welcome" })}>Sign in, and come back</a>
      </nav>
      <form action={whoAmI}>
        <button>Who am I?</button>
      </form>
    </>
  );
}
