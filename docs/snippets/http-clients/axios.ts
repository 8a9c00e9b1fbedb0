// #region api
import axios from "axios";
import { auth } from "./auth.js";

const options = { adapter: "fetch", env: { fetch: auth.fetch } } as const;
export const api = axios.create(options);
// #endregion

// #region retry
const once = axios.create(options); // without the interceptor, so that a second 503 is final

api.interceptors.response.use(undefined, async (error: unknown) => {
  const { config, response } = axios.isAxiosError(error) ? error : {};
  if (response?.status !== 503 || config?.method !== "get") throw error;
  const seconds = Number(response.headers["retry-after"]);
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  return once.request(config);
});
// #endregion
