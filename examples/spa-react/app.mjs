// @ts-check
import path from "node:path";
import express from "express";
import { idpAuth } from "idpauth/express";

const DIST = path.join(import.meta.dirname, "dist");
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'";

/** @param {import("idpauth").IdpAuthOptions} [options] tests pass their own */
export function createApp(options) {
  const app = express();
  const auth = idpAuth(options); // settings come from the environment
  auth.mount(app); // startup checks, then /idpauth/*
  app.use(auth.csrf); // 403 for cross-site requests that could change something

  const items = [{ id: 1, text: "Order punched cards" }];
  app.get("/api/items", auth.idpRequired, (_req, res) => res.json(items));

  app.post("/api/items", auth.idpRequired, express.json(), (req, res) => {
    const text = req.body?.text;
    if (typeof text !== "string" || text === "" || text.length > 100)
      return res.status(400).json({ error: "invalid_text" });
    items.push({ id: items.length + 1, text });
    return res.json(items);
  });

  app.use((_req, res, next) => {
    res.set("Content-Security-Policy", POLICY);
    next();
  });
  app.use(express.static(DIST));
  // The front end renders the views, so every path outside the API that doesn't name a file gets
  // the same page.
  app.use((req, res) => {
    const isView = ["GET", "HEAD"].includes(req.method) && !/^\/api\/|\.\w+$/.test(req.path);
    return isView
      ? res.sendFile("index.html", { root: DIST })
      : res.status(404).json({ error: "not_found" });
  });
  return { app, auth };
}
