import { auth } from "../../../lib/server/auth";
import { ran } from "../../../ran";

export async function load({ request }) {
  ran.push("load");
  return { secret: "MEMBERS ONLY", user: (await auth.requireSession(request)).user };
}

export const actions = {
  rename: async ({ request }) => {
    ran.push("action");
    await auth.requireSession(request);
    return { secret: "MEMBERS ONLY", name: (await request.formData()).get("name") };
  },
};
