// Reduces the suite's Maven project to what its server needs. The suite's own sources stay as they are.

/** They only check the suite's code, or need its git history. */
const LEFT_OUT = [
  "git-commit-id-maven-plugin",
  "jacoco-maven-plugin",
  "maven-checkstyle-plugin",
  "maven-enforcer-plugin",
  "maven-pmd-plugin",
  "maven-surefire-plugin",
  "rewrite-maven-plugin",
];

const PUBLIC_WALLET_VERSION = "0.101.0";

/**
 * @param {string} pom the suite's pom.xml
 * @returns {string} without tests, checks and the compiler's plugin for checks
 */
export function serverPom(pom) {
  return pom
    .replace(/<!--.*?-->/gs, "")
    .replace(/<plugin>.*?<\/plugin>\s*/gs, (plugin) =>
      LEFT_OUT.some((name) => plugin.includes(`<artifactId>${name}<`)) ? "" : plugin,
    )
    .replace(/<dependency>.*?<\/dependency>\s*/gs, (dependency) =>
      dependency.includes("<scope>test</scope>") ? "" : dependency,
    )
    .replace(/<annotationProcessorPaths>.*?<\/annotationProcessorPaths>\s*/s, "")
    .replace(/<compilerArgs>.*?<\/compilerArgs>\s*/s, "")
    .replace(/<execution>.*?<\/execution>\s*/gs, (execution) =>
      /<goal>test-?compile<\/goal>/i.test(execution) ? "" : execution,
    );
}

/**
 * The wallet tests, which no plan here uses, depend on these. A version that only the suite's authors
 * can reach is replaced by one of Maven Central.
 *
 * @param {string} pom
 * @returns {string}
 */
export function withPublicWalletLibraries(pom) {
  return pom.replace(
    /(?<=<groupId>org\.multipaz<\/groupId>\s*<artifactId>[^<]+<\/artifactId>\s*<version>)[^<]+/g,
    PUBLIC_WALLET_VERSION,
  );
}
