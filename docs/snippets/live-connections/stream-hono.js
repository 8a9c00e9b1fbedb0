import { Hono } from "hono";
import { idpAuth } from "idpauth/hono";
import { eventResponse } from "./event-stream.js";

const app = new Hono();
const auth = idpAuth();
auth.mount(app);

app.get("/api/stream", auth.idpRequired, (c) => eventResponse(auth.whenEnded(c)));
