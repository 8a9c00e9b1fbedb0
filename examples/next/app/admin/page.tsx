/** proxy.ts guards it. */
export default function Admin() {
  return <h1>For administrators</h1>;
}
