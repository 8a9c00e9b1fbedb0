import type { TestProvider } from "./provider/test-provider.js";

/** The settings that all providers of an application share. */
const SHARED = ["SECRET_KEY", "BASE_URL", "IDP_DEBUG", "IDP_PROVIDERS"];

/**
 * Returns the environment variables of an application with several test providers: those of each
 * provider with its key, and what all share.
 *
 * @param providers under their keys: `providersEnv({ staff, customers })`
 *
 * @example
 * const [staff, customers] = await Promise.all([startTestProvider(), startTestProvider()]);
 * const auth = idpAuth({ env: providersEnv({ staff, customers }) });
 */
export function providersEnv(
  providers: Readonly<Record<string, Pick<TestProvider, "env">>>,
): Readonly<Record<string, string>> {
  const variables = Object.entries(providers).flatMap(([key, { env }]) => {
    const prefix = `IDP_PROVIDER_${key.toUpperCase().replaceAll("-", "_")}_`;
    return Object.entries(env).map(([name, value]) => [
      SHARED.includes(name) ? name : prefix + name.replace(/^IDP_/, ""),
      value,
    ]);
  });
  return {
    ...(Object.fromEntries(variables) as Record<string, string>),
    // After the empty value that each provider alone has.
    IDP_PROVIDERS: Object.keys(providers).join(" "),
  };
}
