// With an action, so that a form may be posted to a public page.
export const actions = { default: async () => ({ posted: true }) };
