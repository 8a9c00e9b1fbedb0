export const dynamic = "force-static";

/** Rendered by the build, and guarded by the proxy. */
export default function Notice() {
  return <h1>For members only</h1>;
}
