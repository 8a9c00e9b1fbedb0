/** The application's own table of roles, by issuer and subject. */
export const roles = {
  /** @type {Map<string, string>} */
  table: new Map(),
  /** @param {string} iss @param {string} sub */
  async find(iss, sub) {
    return this.table.get(`${iss} ${sub}`);
  },
};
