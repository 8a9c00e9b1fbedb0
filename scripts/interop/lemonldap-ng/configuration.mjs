// LemonLDAP::NG's own files: lemonldap-ng.ini, and the JSON files of its configuration, of which the
// one with the highest number counts.
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Life of ID and access tokens. */
const TOKEN_SECONDS = 6;

/** @typedef {Record<string, any>} Configuration */

/**
 * @param {string} folder
 * @param {string} issuer
 * @returns {string} the path of lemonldap-ng.ini
 */
export function writeFirst(folder, issuer) {
  for (const name of ["conf", "cache", "sessions/lock", "psessions/lock"])
    mkdirSync(path.join(folder, name), { recursive: true });
  const ini = path.join(folder, "lemonldap-ng.ini");
  // With -1, each worker looks for a newer configuration with every request.
  writeFileSync(
    ini,
    `[all]
logLevel = warn
checkTime = -1

[configuration]
type = File
dirName = ${path.join(folder, "conf")}

[portal]
staticPrefix = /static
templateDir = /usr/share/lemonldap-ng/portal/templates
languages = en
`,
  );
  write(folder, 1, firstConfiguration(folder, issuer));
  return ini;
}

/**
 * @param {string} folder
 * @param {(configuration: Configuration) => void} edit
 */
export function change(folder, edit) {
  const numbers = readdirSync(path.join(folder, "conf")).map((name) => Number(/\d+/.exec(name)));
  const last = Math.max(...numbers);
  const configuration = JSON.parse(readFileSync(fileOf(folder, last), "utf8"));
  edit(configuration);
  write(folder, last + 1, configuration);
}

/**
 * @param {string} folder
 * @param {number} number
 * @param {Configuration} configuration
 */
function write(folder, number, configuration) {
  const whole = { ...configuration, cfgNum: number, cfgDate: Math.floor(Date.now() / 1000) };
  writeFileSync(fileOf(folder, number), JSON.stringify(whole));
}

/**
 * @param {string} folder
 * @param {number} number
 */
function fileOf(folder, number) {
  return path.join(folder, "conf", `lmConf-${number}.json`);
}

/**
 * @param {string} folder
 * @param {string} issuer
 * @returns {Configuration}
 */
function firstConfiguration(folder, issuer) {
  const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const storage = (/** @type {string} */ name) => ({
    Directory: path.join(folder, name),
    LockDirectory: path.join(folder, name, "lock"),
  });
  return {
    portal: issuer,
    domain: new URL(issuer).hostname,
    key: randomBytes(16).toString("hex"),
    authentication: "Demo",
    userDB: "Same",
    passwordDB: "Null",
    locationRules: {},
    // The portal doesn't show a captcha, but loads the class, whose default requires ImageMagick.
    captcha: "::Main::Plugin",
    demoExportedVars: { uid: "uid", cn: "cn", mail: "mail" },
    globalStorage: "Apache::Session::File",
    globalStorageOptions: storage("sessions"),
    persistentStorage: "Apache::Session::File",
    persistentStorageOptions: storage("psessions"),
    localSessionStorage: "Cache::FileCache",
    localSessionStorageOptions: {
      namespace: "lemonldap-ng-sessions",
      default_expires_in: 600,
      cache_root: path.join(folder, "cache"),
      cache_depth: 3,
    },
    issuerDBOpenIDConnectActivation: 1,
    issuerDBOpenIDConnectRule: 1,
    issuerDBOpenIDConnectPath: "^/oauth2/",
    oidcServicePrivateKeySig: privateKey.export({ type: "pkcs8", format: "pem" }),
    oidcServicePublicKeySig: publicKey.export({ type: "spki", format: "pem" }),
    oidcServiceKeyIdSig: randomBytes(5).toString("hex"),
    oidcServiceIDTokenExpiration: TOKEN_SECONDS,
    oidcServiceAccessTokenExpiration: TOKEN_SECONDS,
    // As in the configuration that Debian's package brings.
    oidcServiceIgnoreScopeForClaims: 1,
    oidcRPMetaDataOptions: {},
    oidcRPMetaDataExportedVars: {},
  };
}
