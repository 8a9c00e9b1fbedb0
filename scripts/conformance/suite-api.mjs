// The REST calls of the suite's server.

/**
 * @typedef {object} PlannedModule
 * @property {string} testModule its name
 * @property {Record<string, string>} [variant] what the plan itself chooses
 *
 * @typedef {object} ModuleInfo
 * @property {string} status `CREATED`, `CONFIGURED`, `RUNNING`, `WAITING`, `FINISHED` or `INTERRUPTED`
 * @property {string | null} [result] `PASSED`, `WARNING`, `FAILED`, `REVIEW`, `SKIPPED` or `UNKNOWN`;
 *   null while there is none
 *
 * @typedef {object} LogEntry
 * @property {string} [src] the condition that wrote it
 * @property {string} [msg]
 * @property {string} [result] `SUCCESS`, `FAILURE`, `WARNING`, `INTERRUPTED`, …
 * @property {readonly string[]} [requirements] sections of specifications
 *
 * @typedef {object} SuiteApi
 * @property {(name: string, variant: Record<string, string>, config: object) => Promise<{ id: string, modules: readonly PlannedModule[] }>} createPlan
 * @property {(plan: string, module: PlannedModule) => Promise<{ id: string, url: string }>} createModule
 *   `url` is where its provider is
 * @property {(id: string) => Promise<ModuleInfo>} info
 * @property {(id: string) => Promise<Record<string, string>>} exposed what the module shows to a
 *   person, such as the issuer
 * @property {(id: string) => Promise<readonly string[]>} addresses that the user's browser is to visit
 * @property {(id: string, address: string) => Promise<void>} visited
 * @property {(id: string) => Promise<readonly LogEntry[]>} log
 * @property {(id: string) => Promise<void>} cancel
 * @property {(issuer: string, metadata: object) => Promise<{ client_id: string, client_secret: string }>} register
 *   a client with the module's provider, dynamically
 * @property {() => Promise<string>} version
 */

/**
 * @param {string} base address of the server, http
 * @returns {SuiteApi}
 */
export function openSuiteApi(base) {
  /** @type {(method: string, path: string, query?: Record<string, string>, body?: object) => Promise<any>} */
  const call = async (method, path, query = {}, body) => {
    const url = new URL(path, base);
    url.search = new URLSearchParams(query).toString();
    const response = await fetch(url, {
      method,
      headers: {
        accept: "application/json",
        "content-type": "application/json",
        // The server refuses what didn't come over https.
        "x-forwarded-proto": "https",
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok)
      throw new Error(
        `${method} ${path}: the suite responded ${response.status} ${text.slice(0, 500)}`,
      );
    return text === "" ? undefined : JSON.parse(text);
  };
  return {
    createPlan: (name, variant, config) =>
      call("POST", "/api/plan", { planName: name, variant: JSON.stringify(variant) }, config),
    createModule: (plan, { testModule, variant }) =>
      call("POST", "/api/runner", {
        test: testModule,
        plan,
        ...(variant !== undefined && { variant: JSON.stringify(variant) }),
      }),
    info: (id) => call("GET", `/api/info/${id}`),
    exposed: async (id) => (await call("GET", `/api/runner/${id}`)).exposed ?? {},
    addresses: async (id) => (await call("GET", `/api/runner/browser/${id}`)).urls ?? [],
    visited: (id, url) => call("POST", `/api/runner/browser/${id}/visit`, { url }),
    log: (id) => call("GET", `/api/log/${id}`),
    cancel: (id) => call("DELETE", `/api/runner/${id}`),
    register: (issuer, metadata) =>
      call("POST", `${new URL(issuer).pathname.replace(/\/$/, "")}/register`, {}, metadata),
    version: async () => String((await call("GET", "/api/server")).version),
  };
}
