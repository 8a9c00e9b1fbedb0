import { expectRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-invalid-sig-hs256",
  plans: ["oidcc-client-test-plan"],
  demands: "refuse an ID token with a wrong HS256 signature; idpauth accepts no symmetric signature",
  async run(stage) {
    const application = await stage.start();
    const { provider } = application;
    provider.mutateIdToken = ({ sign, header, claims }) => sign({ ...header, alg: "HS256" }, claims, Buffer.from("not the client secret"));
    return expectRefused(application, "id_token_alg");
  },
} satisfies ConformanceModule;
