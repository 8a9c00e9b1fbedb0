package idpauth.interop;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.jose.jws.SignatureAlgorithm;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.settings.ClientSettings;
import org.springframework.security.oauth2.server.authorization.settings.TokenSettings;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What an administrator would change in a database. */
@RestController
@RequestMapping("/interop")
class Admin {
  /** The name of clients whose ID tokens have only Spring's own claims. */
  static final String WITHOUT_CLAIMS = "without claims";

  private final RegisteredClientRepository clients;
  private final Authorizations authorizations;
  private final InMemoryUserDetailsManager users;
  private final SigningKeys keys;
  private final Refreshes refreshes;
  private final Map<String, String> clientKeys = new ConcurrentHashMap<>();

  Admin(
      RegisteredClientRepository clients,
      Authorizations authorizations,
      InMemoryUserDetailsManager users,
      SigningKeys keys,
      Refreshes refreshes) {
    this.clients = clients;
    this.authorizations = authorizations;
    this.users = users;
    this.keys = keys;
    this.refreshes = refreshes;
  }

  @PostMapping("/clients")
  void addClient(@RequestParam Map<String, String> wish) {
    String id = wish.get("id");
    String origin = wish.get("origin");
    ClientSettings.Builder settings =
        ClientSettings.builder().requireAuthorizationConsent(wish.containsKey("consent"));
    if (wish.containsKey("jwks")) {
      clientKeys.put(id, wish.get("jwks"));
      settings
          .jwkSetUrl(wish.get("issuer") + "/interop/keys/" + id)
          .tokenEndpointAuthenticationSigningAlgorithm(SignatureAlgorithm.RS256);
    }
    TokenSettings.Builder tokens =
        TokenSettings.builder()
            .accessTokenTimeToLive(secondsOf(wish, "tokenSeconds"))
            .reuseRefreshTokens(!wish.containsKey("rotate"));
    if (wish.containsKey("refreshSeconds"))
      tokens.refreshTokenTimeToLive(secondsOf(wish, "refreshSeconds"));
    RegisteredClient.Builder client =
        RegisteredClient.withId(id)
            .clientId(id)
            .clientName(wish.containsKey("bare") ? WITHOUT_CLAIMS : id)
            .clientAuthenticationMethod(new ClientAuthenticationMethod(wish.get("method")))
            .authorizationGrantType(AuthorizationGrantType.AUTHORIZATION_CODE)
            .authorizationGrantType(AuthorizationGrantType.REFRESH_TOKEN)
            .redirectUri(origin + "/idpauth/login-callback")
            .postLogoutRedirectUri(origin + "/idpauth/logout-callback")
            .scope("openid")
            .scope("profile")
            .scope("email")
            .clientSettings(settings.build())
            .tokenSettings(tokens.build());
    if (wish.containsKey("secret")) client.clientSecret("{noop}" + wish.get("secret"));
    clients.save(client.build());
  }

  @GetMapping("/keys/{client}")
  String keysOf(@PathVariable String client) {
    return clientKeys.get(client);
  }

  @GetMapping("/refreshes")
  long countRefreshes() {
    return refreshes.count();
  }

  @GetMapping("/revocations")
  long countRevocations() {
    return authorizations.revokedRefreshTokens();
  }

  @PostMapping("/authorizations/remove")
  void removeAuthorizations(@RequestParam String client, @RequestParam String user) {
    authorizations.removeAll(client, user);
  }

  @PostMapping("/users/{name}")
  void setEnabled(@PathVariable String name, @RequestParam boolean enabled) {
    users.updateUser(
        User.withUserDetails(users.loadUserByUsername(name)).disabled(!enabled).build());
  }

  @PostMapping("/keys")
  void replaceKey(@RequestParam boolean keep) {
    keys.replace(keep);
  }

  private static Duration secondsOf(Map<String, String> wish, String name) {
    return Duration.ofSeconds(Long.parseLong(wish.get(name)));
  }
}
