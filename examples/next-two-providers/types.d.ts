import type { IdpauthWarning } from "idpauth/client/warning";
import type { HTMLAttributes } from "react";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "idpauth-warning": HTMLAttributes<IdpauthWarning>;
    }
  }
}
