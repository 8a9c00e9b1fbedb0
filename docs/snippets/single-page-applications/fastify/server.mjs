// @ts-check
import { createApp } from "./app.mjs";

const { app, auth } = await createApp();
const port = Number(process.env["PORT"] ?? 3000);
await app.listen({ port, host: "localhost" });
console.log(`http://localhost:${port}/`);

process.once("SIGTERM", async () => {
  const closed = app.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
  setTimeout(() => app.server.closeAllConnections(), 2000).unref(); // if a request never completes
  await closed;
});
