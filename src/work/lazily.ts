/**
 * Returns what loads a module at its first call and keeps it, because `import()` is slow also for a
 * module that is loaded. A failure is forgotten, so the next call tries again. Node.js 22 itself
 * remembers an `import()` that has failed, for example for want of a file descriptor, so what a
 * sign-in or a token needs is loaded when the application starts.
 */
export function lazily<Module>(load: () => Promise<Module>): () => Promise<Module> {
  let loading: Promise<Module> | undefined;
  return () =>
    (loading ??= load().catch((error: unknown) => {
      loading = undefined;
      throw error;
    }));
}
