// The startup checks, said where the server starts. Next.js goes on after a mistake, and answers
// 500; `npm start` checks beforehand.
export async function register() {
  if (process.env.NEXT_RUNTIME !== "nodejs") return;
  const { auth } = await import("./lib/auth");
  auth.start();
  // Next.js itself waits for the other requests, and exits.
  // `process` alone makes `next build` warn about the Edge runtime.
  globalThis.process.once("SIGTERM", async () => {
    await auth.close(); // ends event streams, and waits for running refreshes
    setTimeout(() => globalThis.process.exit(), 2000).unref(); // if a request never completes
  });
}
