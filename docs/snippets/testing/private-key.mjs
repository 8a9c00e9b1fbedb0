import { generateKeyPairSync } from "node:crypto";
import { signIn, startTestProvider } from "idpauth/testing";
import { expect } from "vitest";
import { createApp } from "./app.mjs";

// #region key
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" }); // from node:crypto
const provider = await startTestProvider({ clientJwks: [publicKey.export({ format: "jwk" })] });
const { app } = createApp({ env: provider.env, clock: provider.clock, privateKey });
const user = await signIn(app);
expect(provider.requestsTo("token")[0]?.params.has("client_assertion")).toBe(true);
await provider.stop();
// #endregion

await user.close();
