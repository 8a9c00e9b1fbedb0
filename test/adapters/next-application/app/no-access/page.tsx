/** The application's own page for the 403 of its proxy. */
export default function NoAccess() {
  return <h1>Only for administrators</h1>;
}
