import type { Messages } from "../messages.js";

export const fr: Messages = {
  "title.named": "{title} – {name}",
  "title.signInError": "Connexion interrompue – {title}",
  "nav.more": "Autres liens",
  "nav.home": "Accueil",
  "action.signIn": "Se connecter",
  "action.signInAgain": "Se reconnecter",
  "action.signOut": "Se déconnecter",
  "action.startAgain": "Recommencer",
  "action.tryAgain": "Réessayer",
  "action.continue": "Continuer",
  "action.showAccount": "Afficher mon compte",
  "action.signInPage": "Aller à la page de connexion",
  "user.nameless": "Le fournisseur d’identité n’a transmis aucun nom",

  "signedOut.title": "Déconnecté",
  "signedOut.heading": "Vous êtes déconnecté",
  "signedOut.text": "Connectez-vous avec votre compte pour continuer.",
  "signedIn.title": "Connecté",
  "signedIn.heading": "Vous êtes connecté",
  "signedIn.selectAccount": "Utiliser un autre compte",
  "signedIn.status": "État de la session (JSON)",
  "ended.title": "Session terminée",
  "ended.heading": "Votre session est terminée",
  "ended.user": "Vous étiez connecté en tant que",
  "ended.max_age":
    "Elle a atteint la durée maximale d’une session sur ce site. Votre activité ne prolonge pas cette durée.",
  "ended.idle": "Vous êtes resté inactif plus longtemps que ce site ne le permet.",
  "ended.signed_in_before":
    "Ce site demande à toutes les personnes connectées avant une certaine date de se reconnecter.",
  "ended.session_expiry": "Elle a atteint la limite de temps fixée par le fournisseur d’identité.",
  "ended.logged_out_at_provider": "Votre organisation vous a déconnecté.",
  "ended.ended_everywhere":
    "La session a été fermée depuis un autre appareil ou par un administrateur.",
  "ended.provider_removed":
    "Vous vous êtes connecté auprès d’un fournisseur que cette application n’utilise plus.",
  "ended.too_many_sessions":
    "Vous vous êtes connecté sur trop d’appareils, et cette session était inutilisée depuis le plus longtemps.",
  "ended.auto_refresh_off":
    "La preuve d’identité délivrée par le fournisseur a expiré, et ce site ne la renouvelle pas automatiquement.",
  "ended.no_refresh_token":
    "La preuve d’identité délivrée par le fournisseur a expiré, et celui-ci n’a pas autorisé ce site à la renouveler.",
  "ended.refresh_rejected":
    "La preuve d’identité délivrée par le fournisseur a expiré, et celui-ci a refusé de la renouveler.",
  "ended.claims_rejected":
    "Le fournisseur d’identité ne transmet plus toutes les informations vous concernant dont ce site a besoin.",
  "ended.denied": "Ce site n’accepte plus votre compte.",
  "rule.max_age": "Durée maximale",
  "rule.idle": "Délai d’inactivité",
  "rule.duration": "{rule} : {duration}",

  "signIn.failed": "La connexion n’a pas abouti.",
  "signIn.access_denied":
    "Vous n’avez pas donné votre accord, ou votre compte ne peut pas utiliser cette application.",
  "signIn.login_required": "Vous devez d’abord vous connecter auprès du fournisseur d’identité.",
  "signIn.consent_required": "Le fournisseur d’identité a d’abord besoin de votre accord.",
  "signIn.interaction_required": "Le fournisseur d’identité doit d’abord vous poser une question.",
  "signIn.account_selection_required":
    "Vous devez d’abord choisir un compte auprès du fournisseur d’identité.",
  "signIn.invalid_request":
    "Le fournisseur d’identité n’a pas pu lire la demande de cette application.",
  "signIn.unauthorized_client":
    "Le fournisseur d’identité n’autorise pas cette application à connecter des utilisateurs de cette façon.",
  "signIn.unsupported_response_type":
    "Le fournisseur d’identité ne prend pas en charge le mode de connexion de cette application.",
  "signIn.invalid_scope":
    "Le fournisseur d’identité ne propose pas toutes les autorisations demandées par cette application.",
  "signIn.server_error": "Une erreur s’est produite chez le fournisseur d’identité.",
  "signIn.temporarily_unavailable":
    "Le fournisseur d’identité est surchargé ou en maintenance. Réessayez dans un instant.",
  "signIn.provider_error":
    "Le fournisseur d’identité a mis fin à la connexion pour une raison que ce site ne connaît pas.",

  "popup.close": "Vous pouvez fermer cette fenêtre.",
  "popup.stay": "Continuer dans cette fenêtre",

  "chooser.heading": "Choisissez comment vous connecter",
  "organization.heading": "Connectez-vous avec votre organisation",
  "organization.text": "Votre organisation détermine la façon dont vous vous connectez.",
  "organization.email": "Adresse e-mail professionnelle",
  "organization.unknown":
    "Nous ne connaissons pas cette organisation. Vérifiez que l’adresse est bien saisie, ou demandez à votre administrateur si votre organisation utilise cette application.",
  "organization.unknownTitle": "Organisation introuvable – {title}",
  "organization.others": "Autres façons de se connecter",
  "otherUser.heading": "Quel compte voulez-vous utiliser ?",
  "otherUser.text":
    "Vous êtes connecté en tant que {present}. Un lien ou un autre site a lancé une connexion en tant que {other}.",
  "otherUser.stay": "Rester {present}",
  "otherUser.continue": "Continuer en tant que {other}",
  "otherUser.unnamed": "compte sans nom",
  "confirm.heading": "Voulez-vous vous connecter ?",
  "confirm.text":
    "Un autre site vous a déconnecté. Ensuite, un lien ou un autre site a lancé une connexion en tant que {other}.",
  "confirm.stay": "Rester déconnecté",

  "sessions.title": "Vos sessions",
  "sessions.text":
    "Vous êtes connecté sur ces appareils. Fermez toute session que vous ne reconnaissez pas.",
  "sessions.textOfProvider":
    "Vous êtes connecté avec {provider} sur ces appareils. Fermez toute session que vous ne reconnaissez pas.",
  "sessions.hidden": {
    one: "{count} session plus ancienne n’est pas affichée.",
    many: "{count} sessions plus anciennes ne sont pas affichées.",
    other: "{count} sessions plus anciennes ne sont pas affichées.",
  },
  "sessions.more": "Vous avez plus de sessions que cette page ne peut en afficher.",
  "sessions.endOthers": "Fermer toutes les autres sessions",
  "sessions.endAll": "Se déconnecter partout",
  "sessions.account": "Votre compte",
  "sessions.device": "{browser} sur {system}",
  "sessions.unknownDevice": "Appareil inconnu",
  "sessions.current": "Cette session",
  "sessions.signedIn": "Connexion : {time}",
  "sessions.lastSeen": "Dernière activité : {time}",
  "sessions.end": "Fermer la session",
  "sessions.endNamed": "Fermer la session : {device} (connexion : {time})",
  "time.unknown": "date inconnue",
  "time.justNow": "il y a moins d’une minute",

  "error.code": "Erreur {status}",
  "error.signedIn": "Si vous étiez connecté, vous l’êtes toujours.",
  "error.signedInAs": "Vous êtes toujours connecté en tant que {user}.",
  "error.unprocessed": "Votre envoi n’a pas été traité.",
  "error.reload": "Pour le renvoyer, actualisez cette page dans {duration}.",
  "error.retry": "Réessayez dans {duration}.",
  "error.later": "Veuillez réessayer dans un instant.",
  "error.notUntilCorrected": "Il est inutile de réessayer avant qu’ils ne l’aient corrigée.",
  "error.unavailable": "Cette page n’est pas disponible pour le moment",
  "error.parameter": "Le paramètre {name} n’a pas de valeur valide.",
  "error.invalid_parameter": "Un paramètre n’a pas de valeur valide",
  "error.invalid_parameter.text": "Une partie de l’adresse a une valeur incorrecte.",
  "error.host_invalid": "Ce site n’est pas utilisable à cette adresse",
  "error.login_loop": "La page de connexion se redirige vers elle-même",
  "error.login_link_invalid": "Ce lien de connexion n’est plus valable",
  "error.login_link_invalid.text":
    "Le lien a déjà été utilisé, a expiré ou appartient à un autre navigateur. Rien n’a changé. Vous pouvez recommencer.",
  "error.sign_in_refused": "La connexion n’a pas pu aboutir",
  "error.sign_in_refused.text":
    "La réponse du fournisseur d’identité n’a pas pu être acceptée : cette connexion n’a rien changé.",
  "error.sign_in_denied": "Vous ne pouvez pas vous connecter ici",
  "error.sign_in_denied.text":
    "Vous vous êtes connecté auprès du fournisseur d’identité, mais cette application n’accepte pas votre compte.",
  "error.claims_rejected":
    "Il manque à votre compte des informations dont cette application a besoin",
  "error.claims_rejected.text":
    "Le fournisseur d’identité n’a pas transmis toutes les informations dont cette application a besoin. Ses responsables peuvent voir ce qui manque.",
  "error.step_up_failed": "Le fournisseur d’identité n’a pas confirmé à nouveau votre identité",
  "error.step_up_failed.text":
    "Cette page exige une connexion plus récente ou plus forte de la même personne.",
  "error.forbidden": "Vous ne pouvez pas ouvrir cette page",
  "error.forbidden.text":
    "Vous êtes connecté, mais votre compte n’a pas le droit d’ouvrir cette page.",
  "error.login_required": "Vous devez vous connecter",
  "error.login_required.text": "Votre envoi n’a pas été traité. Connectez-vous, puis renvoyez-le.",
  "error.insufficient_user_authentication": "Reconnectez-vous pour continuer",
  "error.insufficient_user_authentication.text":
    "Votre envoi n’a pas été traité. Cette action exige une nouvelle connexion.",
  "error.cross_origin": "Cette demande ne vient pas de ce site",
  "error.too_many_streams": "Trop de flux d’événements sont ouverts pour cette session",
  "error.not_found": "Il n’y a pas de page à cette adresse",
  "error.not_found.text": "L’adresse est peut-être mal saisie, ou la page a été déplacée.",
  "error.method_not_allowed": "Cette méthode n’est pas autorisée ici",
  "error.method_not_allowed.text":
    "Vous pouvez ouvrir cette adresse, mais pas lui envoyer de données.",
  "error.provider_required": "Choisissez comment vous connecter",
  "error.provider_required.text":
    "Cette application propose plusieurs façons de se connecter. Choisissez-en une.",
  "error.prefetch_refused": "Cette page ne peut pas être préchargée",
  "error.prefetch_refused.text":
    "Votre navigateur a demandé cette page avant que vous ne cliquiez. Rien ne s’est encore produit.",
  "error.provider_unavailable": "Le fournisseur d’identité est actuellement injoignable",
  "error.provider_unavailable.text":
    "Le fournisseur d’identité, qui vérifie votre identité, ne répond pas. Une telle panne est en général de courte durée.",
  "error.provider_misconfigured": "La connexion n’est pas correctement configurée",
  "error.not_renewed": "Votre connexion n’a pas pu être renouvelée",
  "error.not_renewed.text":
    "Le fournisseur d’identité, qui vérifie votre identité, n’a pas renouvelé votre connexion. Vous pouvez vous reconnecter dès maintenant.",
  "error.provider_misconfigured.text":
    "Les responsables de ce site trouveront la cause dans son journal.",
  "error.provider_misconfigured.organization":
    "Les réglages de connexion de votre organisation sont incorrects. Demandez à votre administrateur de les vérifier.",
  "error.store_unavailable": "Cette page n’est pas disponible pour le moment",
  "error.store_unavailable.text":
    "Ce site n’a pas pu déterminer si vous êtes connecté. Une telle panne est en général de courte durée.",
  "error.session_missing": "Cette page n’est pas disponible pour le moment",
  "error.session_missing.text": "Ce site n’a pas pu déterminer si vous êtes connecté.",
  "error.hook_failed": "La connexion ne peut pas aboutir pour le moment",
  "error.hook_failed.text":
    "Cette application n’a pas pu se prononcer sur votre connexion. Cela ne dure en général qu’un instant.",
};
