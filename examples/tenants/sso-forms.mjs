// @ts-check
import { escapeHtml, page } from "./page.mjs";

/**
 * @param {object} state
 * @param {import("./customers.mjs").Customer} state.customer
 * @param {string} state.baseUrl the path of the page
 * @param {readonly string[]} state.notices what the last form led to
 * @param {string} state.redirectUri
 * @param {string} state.loginUrl
 * @param {string | undefined} [state.backchannelLogout]
 * @returns the page "Single sign-on"
 */
export function ssoForms(state) {
  const { customer, notices, redirectUri, loginUrl, backchannelLogout = "" } = state;
  const form = (/** @type {string} */ path, /** @type {string} */ body) =>
    `<form method="post" action="${escapeHtml(`${state.baseUrl}/${path}`)}">${body}</form>`;
  const said = notices.map((text) => `<p role="status">${escapeHtml(text)}</p>`);
  const body = `${said.join("")}
<h2>1. Register this application at your provider</h2>
<dl>
<dt>Redirect URI</dt><dd><code>${escapeHtml(redirectUri)}</code></dd>
<dt>Login address</dt><dd><code>${escapeHtml(loginUrl)}</code></dd>
<dt>Back-channel logout</dt><dd><code>${escapeHtml(backchannelLogout)}</code></dd>
</dl>
<h2>2. Enter the provider</h2>
${form(
  "provider",
  `${field("issuer", "Issuer", customer.issuer)}
${field("clientId", "Client ID", customer.client_id)}
<p><label>Client secret <input name="clientSecret" type="password" autocomplete="off" required></label></p>
<button>Test and save</button>`,
)}
<h2>3. Verify the domain of your users' email addresses</h2>
${form("domain", `${field("domain", "Domain", customer.domain)}<button>Save domain</button>`)}
${customer.domain === null ? "" : proof(customer.domain)}
<h2>4. Switch single sign-on on</h2>
${
  customer.is_on
    ? `<p>It is on. <a href="/">Open the application</a></p>`
    : form("on", "<button>Switch on</button>")
}`;
  return page(`Single sign-on of ${customer.name}`, body);

  /** @param {string} domain */
  function proof(domain) {
    if (customer.is_domain_verified) return "<p>The domain is verified.</p>";
    return `<p>Add a TXT record for <code>_idpauth-example.${escapeHtml(domain)}</code> that contains
<code>${customer.domain_proof}</code></p>${form("verify", "<button>Check the record</button>")}`;
  }
}

/** @param {string} name @param {string} label @param {string | null} value */
function field(name, label, value) {
  return `<p><label>${label} <input name="${name}" value="${escapeHtml(value ?? "")}" required></label></p>`;
}
