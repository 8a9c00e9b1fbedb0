import { auth, client } from "./lib/auth";

export async function register() {
  auth.start();
  globalThis.process.once("SIGTERM", async () => {
    await auth.close(); // ends event streams, and waits for running refreshes
    setTimeout(() => globalThis.process.exit(), 2000).unref(); // if a request never completes
  });
  await client.connect(); // tries again until Redis responds
}
