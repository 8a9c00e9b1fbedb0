// Builds the application in this folder with Maven. The result is kept between runs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { findProgram } from "../../debian-program.mjs";
import { findJava } from "../../java.mjs";
import { root } from "../../run.mjs";

const run = promisify(execFile);
const OLDEST_JAVA = 17;
const CACHE = path.join(root, "node_modules/.cache/interop/spring");
const POM = path.join(import.meta.dirname, "pom.xml");
const SOURCES = path.join(import.meta.dirname, "src/main/java/idpauth/interop");
const pom = readFileSync(POM, "utf8");

/** Spring Security's version, which contains the authorization server. */
export const VERSION = /<spring-security\.version>(.+?)</.exec(pom)?.[1] ?? "unknown";

/** @returns {Promise<string | undefined>} what is missing on this machine, and how to get it */
export async function missing() {
  if ((await findJava(OLDEST_JAVA)) === undefined)
    return `Java is missing: install a JDK ${OLDEST_JAVA} or newer (Debian: openjdk-17-jdk-headless), or set JAVA_HOME to one.`;
  if (existsSync(builtJar()) || (await findProgram("mvn")) !== undefined) return undefined;
  return "Maven is missing: install it (Debian: maven).";
}

/** @returns {Promise<{ java: string, jar: string }>} */
export async function builtApplication() {
  const java = await findJava(OLDEST_JAVA);
  if (java === undefined) throw new Error("Java is missing.");
  const jar = builtJar();
  if (existsSync(jar)) return { java, jar };
  console.log(`Build: a Spring Boot application with Spring Security ${VERSION}, with Maven`);
  const target = path.join(CACHE, "target");
  mkdirSync(target, { recursive: true });
  await run("mvn", ["-q", "-B", "-f", POM, `-Dinterop.build=${target}`, "package"], {
    env: { ...process.env, JAVA_HOME: path.dirname(path.dirname(java)) },
  });
  renameSync(path.join(target, "provider.jar"), jar);
  return { java, jar };
}

/** Its name changes with the sources, so that an older build is never used. */
function builtJar() {
  const hash = createHash("sha256").update(pom);
  for (const name of readdirSync(SOURCES).sort())
    hash.update(readFileSync(path.join(SOURCES, name)));
  return path.join(CACHE, `provider-${hash.digest("hex").slice(0, 12)}.jar`);
}
