import { tmpdir } from "node:os";
import express from "express";
import { idpAuth } from "../../src/adapters/express/express.js";
import type { IdpAuthOptions } from "../../src/index.js";
import { RunningClock, type MovableClock } from "../../src/testing/running-clock.js";
import type { TestProvider } from "../../src/testing/provider/test-provider.js";
import { launchProvider } from "../cli/provider-run.js";

export interface StageOptions extends Omit<IdpAuthOptions, "clock" | "log"> {
  /** Default: a free port. */
  readonly port?: number;
  /** Arguments of `idpauth provider`, or a provider that shows no pages. */
  readonly provider?: readonly string[] | TestProvider;
}

/** The heading of the provider's page. */
export const CHOICE = "Choose a person to sign in as";

/** An Express application for scenarios in a browser, with its provider, in this process. */
export interface StageApplication {
  /** At 127.0.0.1, on the same site as the provider. */
  readonly origin: string;
  /** The provider's origin. */
  readonly provider: string;
  /** The clock of application and provider. */
  readonly clock: MovableClock;
  /** What reached the application's error handler. */
  readonly errors: readonly unknown[];
  stop(): Promise<void>;
}

export async function startStageApplication(options: StageOptions = {}): Promise<StageApplication> {
  const { port = 0, provider, env, ...others } = options;
  const { clock, ...at } = await running(provider);
  const auth = idpAuth({
    logoutAtProvider: true,
    ...others,
    env: { ...at.env, BASE_URL: "", ...env },
    clock,
    log: false,
    debug: true,
  });

  const errors: unknown[] = [];
  const app = express();
  auth.mount(app);
  app.get("/", async (request, response) => {
    const key = (await auth.getSession(request))?.provider ?? "no provider";
    response.send(page("Home", `Signed in at ${key}`, link("/reports", "Reports")));
  });
  app.get("/reports", auth.idpRequired, async (request, response) => {
    const { user } = await auth.requireSession(request);
    response.send(
      page("Reports", `Signed in as ${user.name ?? ""}`, link("/idpauth/logout/", "Sign out")),
    );
  });
  app.get("/api/reports", auth.idpRequired, async (request, response) => {
    response.json({ user: (await auth.requireSession(request)).user });
  });
  if (at.env.IDP_PROVIDERS)
    app.get("/payroll", auth.idpRequiredWith({ provider: "staff" }), async (request, response) => {
      const { user } = await auth.requireSession(request);
      response.send(page("Payroll", `Signed in as ${user.name ?? ""}`, ""));
    });
  app.use(((error, _request, response, _next) => {
    errors.push(error);
    response.sendStatus(500);
  }) satisfies express.ErrorRequestHandler);
  const server = await new Promise<ReturnType<typeof app.listen>>((resolve) => {
    const starting = app.listen(port, "127.0.0.1", () => resolve(starting));
  });
  return {
    origin: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    provider: at.origin,
    clock,
    errors,
    async stop() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await at.stop();
    },
  };
}

const link = (path: string, name: string) => `<a href="${path}">${name}</a>`;

function page(title: string, text: string, more: string): string {
  return `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>${title}</title><main><h1>${title}</h1><p>${text}</p>${more}</main>`;
}

async function running(provider: StageOptions["provider"] = []) {
  if ("issuer" in provider) {
    const { env, issuer: origin, clock } = provider;
    return { env, origin, clock, stop: () => provider.stop() };
  }
  const clock = new RunningClock();
  const started = await launchProvider(["--port=0", ...provider], {
    folder: tmpdir(),
    now: () => clock.now(),
  });
  if (!("issuer" in started)) throw new Error(started.stderr);
  const { env, issuer: origin } = started;
  return { env, origin, clock, stop: started.stop };
}
