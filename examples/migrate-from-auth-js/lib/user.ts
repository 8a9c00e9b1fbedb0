import { redirect } from "next/navigation";
import { auth } from "./auth";
import { oldUser } from "./old-auth";

type Session = Awaited<ReturnType<typeof auth.requireSession>>;

const userOf = ({ user, data }: Session) => ({
  id: data.userId,
  name: user.name,
  email: user.email,
});

/** The user of either session, or undefined. */
export async function findUser() {
  const session = await auth.getSession();
  return session === null ? oldUser() : userOf(session);
}

/** For pages and server actions that only signed-in users may use. */
export async function requireUser() {
  const user = await findUser();
  if (user !== undefined) return user;
  if (process.env["SIGN_IN_WITH"] !== "idpauth") redirect("/api/auth/signin");
  return userOf(await auth.requireSession());
}
