import { defineConfig } from "vite";

// For development: Vite serves the front end at the origin that the browser knows, and passes the rest on to server.mjs. With
// `changeOrigin: false` the server sees the browser's Host header. The short form, a string, would change it.
const api = { target: "http://localhost:3001", changeOrigin: false };

export default defineConfig({ server: { port: 3000, strictPort: true, proxy: { "/api": api, "/idpauth": api } } });
