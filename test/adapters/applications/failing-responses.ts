/** `GuardResponses` of any framework that fail: one throws, and the others reject. */
export const FAILING_ANSWERS = {
  navigation: () => {
    throw new Error("no response");
  },
  unauthenticated: () => Promise.reject(new Error("no response")),
  unavailable: () => Promise.reject(new Error("no response")),
  forbidden: () => Promise.reject(new Error("no response")),
  stepUp: () => Promise.reject(new Error("no response")),
};
