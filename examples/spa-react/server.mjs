// @ts-check
import { createApp } from "./app.mjs";

const { app, auth } = createApp();
const port = Number(process.env["PORT"] ?? 3000);
const server = app.listen(port, "localhost", (error) => {
  if (error) throw error; // for example, if the port is taken
  console.log(`http://localhost:${port}/`);
});

process.once("SIGTERM", async () => {
  server.close(); // no new connections
  await auth.close(); // ends event streams, and waits for running refreshes
  setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
});
