import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

/** A key and a certificate that nobody else trusts, as PEM. @param name as subjectAltName has it */
export function selfSigned(name = "DNS:localhost"): {
  readonly key: string;
  readonly cert: string;
} {
  const folder = mkdtempSync(path.join(tmpdir(), "idpauth-"));
  try {
    const [key, cert] = [path.join(folder, "key"), path.join(folder, "cert")];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const subject = ["-days", "2", "-subj", "/CN=localhost", "-addext", `subjectAltName=${name}`];
    execFileSync("openssl", ["req", "-x509", ...curve, ...subject, "-keyout", key, "-out", cert], {
      stdio: "ignore",
    });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
