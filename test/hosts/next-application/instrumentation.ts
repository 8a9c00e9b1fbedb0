import type { Instrumentation } from "next";

/** Where an application writes `auth.start()`; here each setup is started by its test. */
export async function register(): Promise<void> {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return;
  const [{ auths }, { harness }] = await Promise.all([import("./lib/auth"), import("./lib/setup")]);
  harness().start = (setup) => {
    const all = auths(setup);
    for (const auth of all) auth.start();
    return all;
  };
}

export const onRequestError: Instrumentation.onRequestError = async (error) => {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return;
  const { setup } = await import("./lib/setup");
  setup().caught(error);
};
