import { DemoConfigurationError } from "./configuration.js";

/**
 * Loads a driver that only one kind of sessions needs.
 *
 * @throws DemoConfigurationError it is not installed
 */
export async function loadDriver<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND") throw new DriverMissingError(name);
    throw error;
  }
}

/** A driver is not installed, or was installed without its compiled part. */
export class DriverMissingError extends DemoConfigurationError {
  constructor(name: string) {
    super(
      `The sessions asked for need the package ${name}, which cannot be loaded. Run \`npm ci\` with install scripts allowed ` +
        `(\`npm rebuild ${name}\` makes up for it), or set DEMO_SESSIONS=memory.`,
    );
  }
}
