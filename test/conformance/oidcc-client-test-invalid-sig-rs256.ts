import { expectRefused, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-invalid-sig-rs256",
  plans: ["oidcc-client-basic-certification-test-plan"],
  demands: "refuse an ID token with a wrong RS256 signature, although it comes directly from the token endpoint",
  async run(stage) {
    const application = await stage.start();
    application.provider.mutateIdToken = ({ sign, header, claims }) => {
      const [head, body, signature = ""] = sign(header, claims).split(".");
      const bytes = Buffer.from(signature, "base64url").map((byte) => byte ^ 0x5a);
      return [head, body, Buffer.from(bytes).toString("base64url")].join(".");
    };
    return expectRefused(application, "id_token_signature");
  },
} satisfies ConformanceModule;
