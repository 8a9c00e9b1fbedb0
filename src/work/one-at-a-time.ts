/** Runs a task. A call during a run gets the result of that run. */
export interface OneAtATime<Result> {
  (): Promise<Result>;
  readonly isRunning: () => boolean;
}

export function oneAtATime<Result>(task: () => Promise<Result>): OneAtATime<Result> {
  let running: Promise<Result> | undefined;
  const run = () => {
    running ??= task().finally(() => {
      running = undefined;
    });
    return running;
  };
  return Object.assign(run, { isRunning: () => running !== undefined });
}
