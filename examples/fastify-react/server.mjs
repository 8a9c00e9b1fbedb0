// @ts-check
import { createApi } from "./api.mjs";
import { createApp } from "./app.mjs";

const { IDP_ISSUER = "https://accounts.google.com", PORT = 3000, API_PORT = 4000 } = process.env;

// In production, the API runs by itself.
const api = await createApi({ issuer: IDP_ISSUER });
const address = await api.listen({ port: Number(API_PORT), host: "127.0.0.1" });

const { app, auth } = await createApp(`${address}/`);
const { port } = new URL(await app.listen({ port: Number(PORT), host: "127.0.0.1" }));
console.log(`http://localhost:${port}/`);

process.once("SIGTERM", async () => {
  void app.close(); // no new connections
  await auth.close(); // closes streams and sockets, and waits for running refreshes
  void api.close();
  setTimeout(() => {
    for (const { server } of [app, api]) server.closeAllConnections(); // if a request never completes
    for (const socket of api.websocketServer.clients) socket.terminate(); // whoever doesn't respond
  }, 2000).unref();
});
