// @ts-check
// An orders API for development, which accepts the access tokens of the company's provider.
import { startTestApi } from "idpauth/testing";

const issuer = process.env["IDP_PROVIDER_COMPANY_ISSUER"] ?? "http://127.0.0.1:9400/company";
const { url } = await startTestApi({ issuer });
console.log(`ORDERS_URL=${url}`);
