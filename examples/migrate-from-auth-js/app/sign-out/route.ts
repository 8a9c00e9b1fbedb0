import { redirect } from "next/navigation";
import { endOldSession } from "../../lib/old-auth";

export async function GET() {
  await endOldSession();
  redirect("/idpauth/logout/");
}
