import { mutate, type SWRConfiguration } from "swr";
import { auth } from "./auth.js";
import { getJson, isOutage } from "./get-json.js";

export const swrOptions: SWRConfiguration = {
  fetcher: (url: string) => getJson(url),
  shouldRetryOnError: isOutage,
  errorRetryCount: 3,
  // While the user is signed out, focusing the page doesn't add more waiting requests.
  isPaused: () => auth.getState().status === "signed-out",
};

let before = auth.getState();
auth.subscribe((state) => {
  // Empties the cache after a sign-out or the end of the session, and loads it after a sign-in.
  if (before.status !== "loading" && state.account !== before.account)
    void mutate(() => true, undefined);
  before = state;
});
