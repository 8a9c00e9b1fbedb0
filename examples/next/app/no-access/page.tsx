/** What proxy.ts shows to users who aren't administrators, with the status 403. */
export default function NoAccess() {
  return <h1>Ask your team lead for access.</h1>;
}
