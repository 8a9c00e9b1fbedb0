import { QueryClient } from "@tanstack/react-query";
import { auth } from "./auth.js";
import { getJson, HttpError, isOutage } from "./get-json.js";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // By default, the query's key is the address, such as ["/api/items"].
      queryFn: ({ queryKey, signal }) => getJson(String(queryKey[0]), signal),
      retry: (failures, error) => failures < 3 && isOutage(error),
      retryDelay: (_failures, error) => (error instanceof HttpError ? error.retryAfter : 1000),
    },
  },
});

let { account } = auth.getState();
auth.subscribe((state) => {
  // The user has signed out, or the session has ended. The requests of mounted components wait.
  if (account !== null && state.account !== account) void queryClient.resetQueries();
  account = state.account;
});
