package idpauth.interop;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.security.oauth2.server.authorization.InMemoryOAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2Authorization;
import org.springframework.security.oauth2.server.authorization.OAuth2AuthorizationService;
import org.springframework.security.oauth2.server.authorization.OAuth2TokenType;
import org.springframework.stereotype.Component;

/** Spring's own service in memory, whose authorizations can also be listed. */
@Component
class Authorizations implements OAuth2AuthorizationService {
  private final OAuth2AuthorizationService service = new InMemoryOAuth2AuthorizationService();
  private final Map<String, OAuth2Authorization> known = new ConcurrentHashMap<>();

  @Override
  public void save(OAuth2Authorization authorization) {
    service.save(authorization);
    known.put(authorization.getId(), authorization);
  }

  @Override
  public void remove(OAuth2Authorization authorization) {
    service.remove(authorization);
    known.remove(authorization.getId());
  }

  @Override
  public OAuth2Authorization findById(String id) {
    return service.findById(id);
  }

  @Override
  public OAuth2Authorization findByToken(String token, OAuth2TokenType type) {
    return service.findByToken(token, type);
  }

  void removeAll(String client, String user) {
    for (OAuth2Authorization authorization : known.values())
      if (authorization.getRegisteredClientId().equals(client)
          && authorization.getPrincipalName().equals(user)) remove(authorization);
  }

  long revokedRefreshTokens() {
    return known.values().stream()
        .map(OAuth2Authorization::getRefreshToken)
        .filter(token -> token != null && token.isInvalidated())
        .count();
  }
}
