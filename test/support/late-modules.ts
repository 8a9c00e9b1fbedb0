import { afterAll, vi } from "vitest";

// Loaded before each file of the ring "unit". An application that starts begins to load modules that
// its test may not wait for. The files of a worker share what is loaded, and a load that the end of a
// file breaks off fails for the next file.
afterAll(() => vi.dynamicImportSettled());
