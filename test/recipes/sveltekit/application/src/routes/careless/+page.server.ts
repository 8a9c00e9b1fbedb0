import { numbers } from "../../members.remote";

// A public page that shows what only members may see. `requireUser` in the remote function stops
// it.
export async function load() {
  return { text: await numbers().catch(() => "Not for you.") };
}
