import { createClient } from "idpauth/client";

// If a different user signs in, a reload removes what the previous user has typed.
export const auth = createClient({ trackActivity: true, onUserChange: () => location.reload() });
