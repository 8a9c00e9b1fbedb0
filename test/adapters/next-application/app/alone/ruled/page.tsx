import type { PageRule } from "idpauth/next";
import { hasClaim } from "idpauth";
import { notFound, redirect } from "next/navigation";
import { firstAuth } from "../../../lib/auth";

const allow = hasClaim("name", "admin");
const RULES: Readonly<Record<string, PageRule>> = {
  admin: { allow },
  hidden: { allow, forbidden: notFound },
  elsewhere: { allow, forbidden: () => redirect("/welcome") },
  // As JavaScript without types lets one forget to end the page.
  forgotten: { allow, forbidden: (() => undefined) as unknown as () => never },
  recent: { maxAge: 60, returnTo: "/alone/ruled?rule=recent" },
  unplaced: { maxAge: 60 },
};

/** Guarded by itself alone, with a rule. */
export default async function Ruled({ searchParams }: { searchParams: Promise<{ rule: string }> }) {
  const [auth, { rule }] = await Promise.all([firstAuth(), searchParams]);
  const { user } = await auth.requireSession(RULES[rule]);
  return <h1>Ruled, with {user.name}</h1>;
}
