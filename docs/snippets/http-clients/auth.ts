import { createClient } from "idpauth/client";

export const auth = createClient({ onUserChange: () => location.reload() });
