// Keycloak's Admin REST API.

/**
 * @typedef {object} Admin
 * @property {(path: string) => Promise<any>} get a path below /admin/realms
 * @property {(path: string, body?: unknown) => Promise<string>} post gives the new object's id, if
 *   the response has one
 * @property {(path: string, body?: unknown) => Promise<void>} put
 * @property {(path: string, body?: unknown) => Promise<void>} delete
 */

/**
 * @param {{ url: string, username: string, password: string }} options
 * @returns {Admin}
 */
export function openAdmin({ url, username, password }) {
  let token = "";
  const signIn = async () => {
    const response = await fetch(`${url}/realms/master/protocol/openid-connect/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "password",
        client_id: "admin-cli",
        username,
        password,
      }),
    });
    if (!response.ok) throw new Error(`The admin can't sign in: status ${response.status}`);
    ({ access_token: token } = /** @type {{ access_token: string }} */ (await response.json()));
  };
  const send = async (/** @type {string} */ path, /** @type {RequestInit} */ init) =>
    fetch(`${url}/admin/realms${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    });
  /**
   * @param {string} method
   * @param {string} path
   * @param {unknown} [body]
   */
  const request = async (method, path, body) => {
    const init = { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    let response = await send(path, init);
    // The token lives for a minute.
    if (response.status === 401) {
      await signIn();
      response = await send(path, init);
    }
    if (response.ok) return response;
    const said = (await response.text()).slice(0, 500);
    throw new Error(`${method} /admin/realms${path}: status ${response.status} ${said}`);
  };
  return {
    get: async (path) => (await request("GET", path)).json(),
    post: async (path, body) =>
      (await request("POST", path, body)).headers.get("location")?.split("/").at(-1) ?? "",
    async put(path, body) {
      await request("PUT", path, body);
    },
    async delete(path, body) {
      await request("DELETE", path, body);
    },
  };
}
