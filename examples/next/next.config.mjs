// The endpoints' links end with a slash; without this each costs a redirect.
export default { skipTrailingSlashRedirect: true };
