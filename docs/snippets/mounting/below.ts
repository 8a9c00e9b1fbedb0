// #region below
import express from "express";
import { idpAuth } from "idpauth/express";

const area = express.Router();
const auth = idpAuth({ mountPath: "/area/idpauth/" });
area.use(auth.routes);

const app = express();
app.use("/area", area);
auth.start();
// #endregion

export { app };
