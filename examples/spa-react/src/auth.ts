import { createClient } from "idpauth/client";

// If a different user signs in, a reload removes the previous user's items and draft.
export const auth = createClient({ trackActivity: true, onUserChange: () => location.reload() });
