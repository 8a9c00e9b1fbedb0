import type { Instrumentation } from "next";

/** Where an application writes `auth.start()`; here each setup is started by its test. */
export async function register(): Promise<void> {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return;
  const [{ auths, hostAuths }, { harness }] = await Promise.all([
    import("./lib/auth"),
    import("./lib/setup"),
  ]);
  harness().start = (setup) => {
    for (const auth of auths(setup)) auth.start();
    return hostAuths(setup);
  };
}

export const onRequestError: Instrumentation.onRequestError = async (error) => {
  if (process.env["NEXT_RUNTIME"] !== "nodejs") return;
  const { setup } = await import("./lib/setup");
  setup().caught(error);
};
