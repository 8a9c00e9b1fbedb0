import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/**
 * During development, the browser loads the front end from Vite, which forwards requests to the
 * server. `changeOrigin: false` keeps the browser's Host header, and `ws: true` also forwards
 * WebSockets.
 * @type {import("vite").ProxyOptions}
 */
const server = {
  target: "http://localhost:3001",
  changeOrigin: false,
  ws: true,
  // When the server aborts an event stream, Vite would leave the browser's connection open.
  configure: (proxy) =>
    proxy.on("proxyRes", (response, _request, toBrowser) =>
      response.on("error", () => toBrowser.destroy()),
    ),
};

export default defineConfig({
  plugins: [react()], // an edit keeps the page, and what you have typed
  server: { port: 3000, strictPort: true, proxy: { "/api": server, "/idpauth": server } },
});
