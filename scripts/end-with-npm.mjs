// For a program that `npm run` starts. npm passes SIGTERM on to the shell that it started, and some
// shells, such as Debian's, end without passing it on to the program. `exec` before the command
// would replace the shell, but Windows has no `exec`.

/** Milliseconds between two looks at the parent process. */
const LOOK = 200;

/**
 * Sends SIGTERM to this process when the shell that npm started has ended. Does nothing in a
 * process that npm did not start.
 */
export function endWithNpm() {
  if (process.env["npm_lifecycle_event"] === undefined) return;
  const shell = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === shell) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, LOOK);
  timer.unref();
}
