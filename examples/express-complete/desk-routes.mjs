// @ts-check
import { Router } from "express";
import { hasClaim } from "idpauth";
import { deskOf, escapeHtml, form, page } from "./page.mjs";
import { findUser } from "./users.mjs";

/**
 * The pages for staff. The guard in front blocks everyone else, with a page of this application.
 * @param {ReturnType<typeof import("./app.mjs").createApp>["auth"]} auth
 * @param {object} parts
 * @param {import("redis").RedisClientType} parts.redis
 * @param {import("./notices.mjs").Notices} parts.notices
 */
export function deskRoutes(auth, { redis, notices }) {
  const desk = Router();
  desk.use(auth.idpRequiredWith({ allow: hasClaim("groups", "staff"), forbidden }));

  desk.get("/desk", async (req, res) => {
    const { claims } = await auth.requireSession(req);
    const { name = "" } = await findUser(redis, claims);
    res.send(page("Desk", deskOf(name)));
  });

  desk.get("/stream", async (req, res) => {
    const { send, signal } = await auth.eventStream(req, res);
    notices.forEach((text) => send({ text }, { event: "notice" }), signal);
  });

  desk.post("/notices", async (req, res) => {
    await notices.publish(fieldOf(req, "text"));
    res.redirect(303, "/desk");
  });

  desk.get("/open-orders", async (req, res) => {
    const response = await auth.fetchApi(req, "orders", "items?open=true");
    if (response.ok) res.json(await response.json());
    else res.status(502).json({ error: "orders_unavailable" });
  });

  const admin = auth.idpRequiredWith({ allow: hasClaim("groups", "admin"), forbidden });
  desk.get("/admin", admin, (_req, res) => {
    res.send(page("Administration", "<p>For administrators.</p>"));
  });

  const recent = auth.idpRequiredWith({ maxAge: 300 });
  desk.get("/transfer", recent, (_req, res) => {
    res.send(page("Transfer", form("/transfer", "amount", "Transfer")));
  });
  desk.post("/transfer", recent, (req, res) => {
    res.send(page("Transferred", `<p>${escapeHtml(fieldOf(req, "amount"))}</p>`));
  });

  desk.get("/payroll", auth.idpRequiredWith({ provider: "company" }), (_req, res) => {
    res.send(page("Payroll", "<p>For employees of the company.</p>"));
  });
  return desk;
}

/**
 * The application's own 403 page.
 * @param {import("express").Request} _req
 * @param {import("express").Response} res
 */
function forbidden(_req, res) {
  res.status(403).send(page("Not for you", "<p>Ask your team lead for access.</p>"));
}

/**
 * @param {import("express").Request} req
 * @param {string} name of a field that the form requires
 */
function fieldOf(req, name) {
  const value = req.body?.[name];
  if (typeof value === "string" && value !== "" && value.length <= 100) return value;
  throw Object.assign(new Error(`The field ${name} is invalid.`), { status: 400 });
}
