import { afterAll } from "vitest";

// Loaded before each file of the ring "unit". An application that starts begins to load these
// modules. Its test waits for them, since the files of a worker share what is loaded: a load that
// the end of a file breaks off fails for the next file.
afterAll(async () => {
  await Promise.all([
    import("../../src/provider/openid-provider.js"),
    import("../../src/provider/endpoint-owners.js"),
  ]);
});
