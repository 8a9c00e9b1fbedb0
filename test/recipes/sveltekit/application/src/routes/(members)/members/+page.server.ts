import { auth } from "../../../lib/server/auth";
import { ran } from "../../../ran";

export async function load({ request }) {
  ran.push("load");
  return { secret: "MEMBERS ONLY", user: await auth.getUser(request) };
}

export const actions = {
  rename: async ({ request }) => {
    ran.push("action");
    return { secret: "MEMBERS ONLY", name: (await request.formData()).get("name") };
  },
};
