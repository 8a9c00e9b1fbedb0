import { onTestFinished } from "vitest";

/** Waits for something that is starting, which stops when the test has finished. */
export async function untilTestEnds<Started extends { stop(): unknown }>(
  starting: Promise<Started>,
): Promise<Started> {
  const started = await starting;
  onTestFinished(async () => {
    await started.stop();
  });
  return started;
}
