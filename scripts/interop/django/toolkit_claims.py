# The claims about the user that django-oauth-toolkit leaves to the project.
from oauth2_provider.oauth2_validators import OAuth2Validator


class WithClaims(OAuth2Validator):
    oidc_claim_scope = OAuth2Validator.oidc_claim_scope | {"groups": "profile"}

    def get_additional_claims(self):
        return {
            "email": lambda request: request.user.email,
            "name": lambda request: request.user.get_full_name(),
            "groups": lambda request: [group.name for group in request.user.groups.all()],
        }


class ActiveUsersOnly(WithClaims):
    def validate_refresh_token(self, refresh_token, client, request, *args, **kwargs):
        is_valid = super().validate_refresh_token(refresh_token, client, request, *args, **kwargs)
        return is_valid and request.user.is_active
