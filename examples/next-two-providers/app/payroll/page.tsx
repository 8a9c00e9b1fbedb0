import { auth } from "../../lib/auth";

export default async function Payroll() {
  const { user } = await auth.requireSession({ provider: "staff" });
  return <h1>The payroll, for {user.name}</h1>;
}
