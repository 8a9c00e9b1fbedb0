import express from "express";
import { companyAuth } from "./company-auth.js";
import { store } from "./store.js";

export const app = express();

// #region service
// In your services: import { companyAuth } from "@example/auth";
export const auth = companyAuth({ store, sessionIdleTimeout: 15 * 60 });
auth.mount(app);
// #endregion
