import { firstAuth } from "../../../lib/auth";

/** Guarded by itself alone, and says where it is. */
export default async function Placed({ searchParams }: { searchParams: Promise<{ q?: string }> }) {
  const [auth, { q = "" }] = await Promise.all([firstAuth(), searchParams]);
  const { user } = await auth.requireSession({
    returnTo: `/alone/placed?q=${encodeURIComponent(q)}`,
  });
  return (
    <h1>
      Placed at {q} with {user.name}
    </h1>
  );
}
