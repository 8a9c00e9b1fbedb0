import { generateKeyPairSync } from "node:crypto";
import type { ConformanceModule } from "./relying-party.js";
import { expectLogoutTokenRefused } from "./rp-logout.js";

export default {
  module: "oidcc-client-test-rp-backchannel-rpinitlogout-wrong-alg",
  plans: ["oidcc-client-back-channel-logout-rp-basic"],
  demands: "refuse a logout token with 400 whose algorithm is not that of ID tokens, although the provider publishes the key",
  async run(stage) {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    return expectLogoutTokenRefused(
      stage,
      ({ provider }) => {
        const key = { ...publicKey.export({ format: "jwk" }), kid: "ec", use: "sig", alg: "ES256" };
        provider.jwks.publish({ keys: [...provider.jwks.document().keys, key] });
        return { header: { alg: "ES256", kid: "ec" }, key: privateKey };
      },
      "logout_token_alg",
    );
  },
} satisfies ConformanceModule;
