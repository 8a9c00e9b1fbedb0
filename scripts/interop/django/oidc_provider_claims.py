# The claims about the user that django-oidc-provider leaves to the project.
def userinfo(claims, user):
    return claims | {"name": user.get_full_name()}
