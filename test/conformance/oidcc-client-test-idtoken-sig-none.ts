import { expectRefused, withHeader, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-idtoken-sig-none",
  plans: ["oidcc-client-basic-certification-test-plan", "oidcc-client-config-certification-test-plan"],
  demands: "accept or refuse an unsigned ID token; this replay requires idpauth to refuse it",
  async run(stage) {
    return expectRefused(withHeader(await stage.start(), { alg: "none", kid: undefined }), "id_token_alg");
  },
} satisfies ConformanceModule;
