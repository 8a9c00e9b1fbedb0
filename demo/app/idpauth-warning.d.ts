import type { IdpauthWarning } from "idpauth/client/warning";
import type { HTMLAttributes, RefAttributes } from "react";

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "idpauth-warning": HTMLAttributes<IdpauthWarning> &
        RefAttributes<IdpauthWarning> &
        Partial<Pick<IdpauthWarning, "client" | "seconds" | "texts">>;
    }
  }
}
