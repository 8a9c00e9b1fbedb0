import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// During development, the browser loads the front end from Vite, which forwards requests to the
// API. `changeOrigin: false` keeps the browser's Host header. The short form, a string, would
// change it. `ws: true` forwards WebSockets, too.
const api = { target: "http://localhost:3001", changeOrigin: false, ws: true };

export default defineConfig({
  plugins: [react()], // an edit keeps the page, and what you have typed
  server: { port: 3000, strictPort: true, proxy: { "/api": api, "/idpauth": api } },
});
