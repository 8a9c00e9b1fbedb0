import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { expectRefused, expectSignedIn, type ConformanceModule } from "./relying-party.js";

export default {
  module: "oidcc-client-test-invalid-sig-es256",
  plans: ["oidcc-client-test-plan"],
  demands: "refuse an ID token with a wrong ES256 signature",
  async run(stage) {
    const application = await stage.start();
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const stranger = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
    const { provider } = application;
    provider.discoveryDocument = (document) => ({ ...document, id_token_signing_alg_values_supported: ["ES256"] });
    provider.jwks.publish({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "ec", use: "sig", alg: "ES256" }] });
    const signedBy = (key: KeyObject) => {
      provider.mutateIdToken = ({ sign, claims: { at_hash: _hash, ...claims } }) => sign({ alg: "ES256", kid: "ec" }, claims, key);
    };
    signedBy(stranger);
    const seen = await expectRefused(application, "id_token_signature");
    signedBy(privateKey);
    await expectSignedIn(application);
    return `${seen}; a token signed with the right key is accepted`;
  },
} satisfies ConformanceModule;
