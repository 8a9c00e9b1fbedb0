import { command, form, query } from "$app/server";
import { requireUser } from "./lib/server/require-user";
import { ran } from "./ran";

async function membersOnly(what: string): Promise<string> {
  const { name } = await requireUser();
  ran.push(what);
  return `MEMBERS ONLY for ${name}`;
}

export const numbers = query(() => membersOnly("query"));
export const remind = command(() => membersOnly("command"));
export const rename = form(() => membersOnly("form"));

// The recipe's hook has to guard those that forget to ask for the user.
export const forgottenQuery = query(async () => {
  ran.push("forgotten query");
  return "MEMBERS ONLY";
});
export const forgottenForm = form(async () => {
  ran.push("forgotten form");
  return "MEMBERS ONLY";
});
