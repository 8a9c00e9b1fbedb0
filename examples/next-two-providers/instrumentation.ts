import { auth } from "./lib/auth";

export function register() {
  auth.start();
  // `process` alone makes `next build` warn about the Edge runtime.
  globalThis.process.once("SIGTERM", async () => {
    await auth.close(); // ends event streams, and waits for running refreshes
    setTimeout(() => globalThis.process.exit(), 2000).unref(); // if a request never completes
  });
}
