import { firstAuth } from "../../lib/auth";

/** Guarded by itself alone; it does not know its own address. */
export default async function Alone() {
  const auth = await firstAuth();
  const { user } = await auth.requireSession();
  return <h1>Alone with {user.name}</h1>;
}
