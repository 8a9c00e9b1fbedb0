import express from "express";
import { pinoHttp, type Options } from "pino-http";
import { idpAuth } from "idpauth/express";

export const app = express();
const options: Options = {
  serializers: {
    req: ({ id, method, url }) => ({ id, method, path: url.split("?")[0] }),
    res: ({ statusCode }) => ({ statusCode }),
  },
};

// #region ids
import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";

const requestIds = new AsyncLocalStorage<string>();
/** Writes one line of JSON with the ID of the request. */
const write = (line: object) => {
  console.error(JSON.stringify({ ...line, requestId: requestIds.getStore() }));
};
const auth = idpAuth({ log: (line) => line.level !== "info" && write(line) });
auth.on("login", ({ subject }) => write({ event: "login", user: subject }));

app.use(pinoHttp({ ...options, genReqId: () => randomUUID() })); // the options of the first sample
app.use((req, _res, next) => requestIds.run(String(req.id), next));
auth.mount(app);
// #endregion

app.get("/reports", auth.idpRequired, (_req, res) => {
  res.send("passed");
});
app.get("/broken", () => {
  throw new Error("This route is broken.");
});

// #region errors
import type { ErrorRequestHandler } from "express";

const onError: ErrorRequestHandler = (error: Error & { status?: number }, _req, res, next) => {
  if (res.headersSent) return next(error);
  res.err = error; // pino-http logs it
  res.status(error.status ?? 500).json({ error: "failed" });
};
app.use(auth.errorHandler);
app.use(onError);
// #endregion
