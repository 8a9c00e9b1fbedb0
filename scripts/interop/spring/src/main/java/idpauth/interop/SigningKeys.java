package idpauth.interop;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import java.util.List;
import java.util.UUID;
import org.springframework.stereotype.Component;

/** The keys that the server publishes; the first one signs. */
@Component
class SigningKeys implements JWKSource<SecurityContext> {
  private volatile JWKSet keys = new JWKSet(newKey());

  @Override
  public List<JWK> get(JWKSelector selector, SecurityContext context) {
    return selector.select(keys);
  }

  void replace(boolean isOldKept) {
    List<JWK> old = keys.getKeys();
    keys = new JWKSet(isOldKept ? List.of(newKey(), old.get(0)) : List.of(newKey()));
  }

  private static JWK newKey() {
    try {
      return new RSAKeyGenerator(2048).keyID(UUID.randomUUID().toString()).generate();
    } catch (JOSEException error) {
      throw new IllegalStateException(error);
    }
  }
}
