package idpauth.interop;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import org.springframework.core.annotation.Order;
import org.springframework.stereotype.Component;
import org.springframework.web.filter.OncePerRequestFilter;

/** Counts token requests with a refresh token, before Spring Security's filters respond to them. */
@Component
@Order(-200)
class Refreshes extends OncePerRequestFilter {
  private final AtomicLong count = new AtomicLong();

  long count() {
    return count.get();
  }

  @Override
  protected void doFilterInternal(
      HttpServletRequest request, HttpServletResponse response, FilterChain chain)
      throws ServletException, IOException {
    if (request.getRequestURI().equals("/oauth2/token")
        && "refresh_token".equals(request.getParameter("grant_type"))) count.incrementAndGet();
    chain.doFilter(request, response);
  }
}
