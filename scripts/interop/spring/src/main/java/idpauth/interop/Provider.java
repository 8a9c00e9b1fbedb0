package idpauth.interop;

import static org.springframework.security.config.Customizer.withDefaults;

import com.nimbusds.jose.jwk.source.JWKSource;
import com.nimbusds.jose.proc.SecurityContext;
import java.time.Instant;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.http.MediaType;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.core.userdetails.User;
import org.springframework.security.core.userdetails.UserDetails;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.security.oauth2.core.oidc.endpoint.OidcParameterNames;
import org.springframework.security.oauth2.jwt.JwtEncoder;
import org.springframework.security.oauth2.jwt.NimbusJwtEncoder;
import org.springframework.security.oauth2.server.authorization.client.InMemoryRegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClient;
import org.springframework.security.oauth2.server.authorization.client.RegisteredClientRepository;
import org.springframework.security.oauth2.server.authorization.token.JwtEncodingContext;
import org.springframework.security.oauth2.server.authorization.token.OAuth2TokenCustomizer;
import org.springframework.security.provisioning.InMemoryUserDetailsManager;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.authentication.LoginUrlAuthenticationEntryPoint;
import org.springframework.security.web.util.matcher.MediaTypeRequestMatcher;

/** An authorization server with Spring's own pages, and an admin interface for the run. */
@SpringBootApplication
public class Provider {
  public static void main(String[] arguments) {
    SpringApplication.run(Provider.class, arguments);
  }

  @Bean
  @Order(1)
  SecurityFilterChain protocolEndpoints(HttpSecurity http) throws Exception {
    http.oauth2AuthorizationServer(
        server -> {
          http.securityMatcher(server.getEndpointsMatcher());
          server.oidc(withDefaults()).pushedAuthorizationRequestEndpoint(withDefaults());
        });
    http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated());
    http.oauth2ResourceServer(server -> server.jwt(withDefaults()));
    http.exceptionHandling(
        handling ->
            handling.defaultAuthenticationEntryPointFor(
                new LoginUrlAuthenticationEntryPoint("/login"),
                new MediaTypeRequestMatcher(MediaType.TEXT_HTML)));
    return http.build();
  }

  @Bean
  @Order(2)
  SecurityFilterChain adminInterface(HttpSecurity http) throws Exception {
    http.securityMatcher("/interop/**").csrf(csrf -> csrf.disable());
    http.authorizeHttpRequests(requests -> requests.anyRequest().permitAll());
    return http.build();
  }

  @Bean
  @Order(3)
  SecurityFilterChain loginPage(HttpSecurity http) throws Exception {
    http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated());
    http.formLogin(withDefaults());
    return http.build();
  }

  @Bean
  InMemoryUserDetailsManager users() {
    return new InMemoryUserDetailsManager(user("ada"), user("grace"));
  }

  private static UserDetails user(String name) {
    return User.withUsername(name).password("{noop}correct horse").roles("USER").build();
  }

  /** A repository in memory must have a client from the start. */
  @Bean
  RegisteredClientRepository clients() {
    return new InMemoryRegisteredClientRepository(
        RegisteredClient.withId("unused")
            .clientId("unused")
            .authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS)
            .clientAuthenticationMethod(ClientAuthenticationMethod.NONE)
            .build());
  }

  /** Without a selector, the encoder fails as soon as there are two keys. */
  @Bean
  JwtEncoder encoder(JWKSource<SecurityContext> keys) {
    NimbusJwtEncoder encoder = new NimbusJwtEncoder(keys);
    encoder.setJwkSelector(found -> found.get(0));
    return encoder;
  }

  /** ID tokens live as long as access tokens; Spring has no setting for their 30 minutes. */
  @Bean
  OAuth2TokenCustomizer<JwtEncodingContext> claims() {
    return context -> {
      if (!OidcParameterNames.ID_TOKEN.equals(context.getTokenType().getValue())) return;
      var client = context.getRegisteredClient();
      var life = client.getTokenSettings().getAccessTokenTimeToLive();
      context.getClaims().expiresAt(Instant.now().plus(life));
      if (client.getClientName().equals(Admin.WITHOUT_CLAIMS)) return;
      String user = context.getPrincipal().getName();
      context.getClaims().claim("email", user + "@example.com").claim("name", user);
    };
  }
}
