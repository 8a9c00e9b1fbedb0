import type { Messages } from "../messages.js";

export const de: Messages = {
  "title.named": "{title} – {name}",
  "title.signInError": "Anmeldung nicht abgeschlossen – {title}",
  "nav.more": "Weitere Links",
  "nav.home": "Startseite",
  "action.signIn": "Anmelden",
  "action.signInAgain": "Erneut anmelden",
  "action.signOut": "Abmelden",
  "action.startAgain": "Neu beginnen",
  "action.tryAgain": "Erneut versuchen",
  "action.continue": "Weiter",
  "action.showAccount": "Mein Konto anzeigen",
  "action.signInPage": "Zur Anmeldeseite",
  "user.nameless": "Der Anmeldedienst hat keinen Namen übermittelt",

  "signedOut.title": "Abgemeldet",
  "signedOut.heading": "Sie sind abgemeldet",
  "signedOut.text": "Melden Sie sich mit Ihrem Konto an, um fortzufahren.",
  "signedIn.title": "Angemeldet",
  "signedIn.heading": "Sie sind angemeldet",
  "signedIn.selectAccount": "Anderes Konto verwenden",
  "signedIn.status": "Sitzungsstatus (JSON)",
  "ended.title": "Sitzung beendet",
  "ended.heading": "Ihre Sitzung ist beendet",
  "ended.user": "Sie waren angemeldet als",
  "ended.max_age":
    "Sie hat die Höchstdauer einer Sitzung auf dieser Website erreicht. Diese Dauer verlängert sich nicht, wenn Sie aktiv sind.",
  "ended.idle": "Sie waren länger inaktiv, als diese Website erlaubt.",
  "ended.signed_in_before":
    "Alle, die sich vor einem bestimmten Zeitpunkt angemeldet haben, müssen sich hier neu anmelden.",
  "ended.session_expiry":
    "Sie hat die Frist erreicht, die der Anmeldedienst für sie festgelegt hat.",
  "ended.logged_out_at_provider": "Ihre Organisation hat Sie abgemeldet.",
  "ended.ended_everywhere":
    "Die Sitzung wurde auf einem anderen Gerät oder von der Administration beendet.",
  "ended.provider_removed":
    "Sie haben sich bei einem Anbieter angemeldet, den diese Anwendung nicht mehr verwendet.",
  "ended.too_many_sessions":
    "Sie haben sich auf zu vielen Geräten angemeldet, und diese Sitzung war am längsten unbenutzt.",
  "ended.auto_refresh_off":
    "Der Identitätsnachweis des Anmeldedienstes ist abgelaufen, und diese Website erneuert ihn nicht von selbst.",
  "ended.no_refresh_token":
    "Der Identitätsnachweis des Anmeldedienstes ist abgelaufen, und der Anmeldedienst hat dieser Website nicht erlaubt, ihn zu erneuern.",
  "ended.refresh_rejected":
    "Der Identitätsnachweis des Anmeldedienstes ist abgelaufen, und der Anmeldedienst hat die Erneuerung abgelehnt.",
  "ended.claims_rejected":
    "Der Anmeldedienst übermittelt nicht mehr alle Angaben über Sie, die diese Website benötigt.",
  "ended.denied": "Diese Website lässt Ihr Konto nicht mehr zu.",
  "rule.max_age": "Höchstdauer",
  "rule.idle": "Frist bei Inaktivität",
  "rule.duration": "{rule}: {duration}",

  "signIn.failed": "Die Anmeldung wurde nicht abgeschlossen.",
  "signIn.access_denied":
    "Sie haben nicht zugestimmt, oder Ihr Konto darf diese Anwendung nicht nutzen.",
  "signIn.login_required": "Sie müssen sich zuerst beim Anmeldedienst anmelden.",
  "signIn.consent_required": "Der Anmeldedienst benötigt zuerst Ihre Zustimmung.",
  "signIn.interaction_required": "Der Anmeldedienst muss Ihnen zuerst eine Frage stellen.",
  "signIn.account_selection_required": "Sie müssen zuerst beim Anmeldedienst ein Konto auswählen.",
  "signIn.invalid_request": "Der Anmeldedienst konnte die Anfrage dieser Anwendung nicht lesen.",
  "signIn.unauthorized_client":
    "Der Anmeldedienst erlaubt dieser Anwendung diese Art der Anmeldung nicht.",
  "signIn.unsupported_response_type":
    "Der Anmeldedienst unterstützt die Art nicht, wie diese Anwendung anmeldet.",
  "signIn.invalid_scope":
    "Der Anmeldedienst bietet nicht alle Berechtigungen an, die diese Anwendung anfordert.",
  "signIn.server_error": "Beim Anmeldedienst ist ein Fehler aufgetreten.",
  "signIn.temporarily_unavailable":
    "Der Anmeldedienst ist überlastet oder wird gewartet. Versuchen Sie es gleich noch einmal.",
  "signIn.provider_error":
    "Der Anmeldedienst hat die Anmeldung aus einem Grund beendet, den diese Website nicht kennt.",

  "popup.close": "Sie können dieses Fenster schließen.",
  "popup.stay": "In diesem Fenster fortfahren",

  "chooser.heading": "Wählen Sie, wie Sie sich anmelden",
  "organization.heading": "Über Ihre Organisation anmelden",
  "organization.text": "Ihre Organisation legt fest, wie Sie sich anmelden.",
  "organization.email": "Geschäftliche E-Mail-Adresse",
  "organization.unknown":
    "Diese Organisation ist uns nicht bekannt. Prüfen Sie, ob die Adresse richtig geschrieben ist, oder fragen Sie die Administration Ihrer Organisation, ob sie diese Anwendung nutzt.",
  "organization.unknownTitle": "Organisation nicht gefunden – {title}",
  "organization.others": "Andere Wege, sich anzumelden",
  "otherUser.heading": "Welches Konto möchten Sie verwenden?",
  "otherUser.text":
    "Sie sind als {present} angemeldet. Ein Link oder eine andere Website hat eine Anmeldung als {other} begonnen.",
  "otherUser.stay": "Als {present} angemeldet bleiben",
  "otherUser.continue": "Als {other} fortfahren",
  "otherUser.unnamed": "Konto ohne Namen",
  "confirm.heading": "Möchten Sie sich anmelden?",
  "confirm.text":
    "Eine andere Website hat Sie abgemeldet. Danach hat ein Link oder eine andere Website eine Anmeldung als {other} begonnen.",
  "confirm.stay": "Abgemeldet bleiben",

  "sessions.title": "Ihre Sitzungen",
  "sessions.text":
    "Auf diesen Geräten sind Sie angemeldet. Beenden Sie jede Sitzung, die Sie nicht wiedererkennen.",
  "sessions.textOfProvider":
    "Auf diesen Geräten sind Sie mit {provider} angemeldet. Beenden Sie jede Sitzung, die Sie nicht wiedererkennen.",
  "sessions.hidden": {
    one: "{count} ältere Sitzung wird nicht angezeigt.",
    other: "{count} ältere Sitzungen werden nicht angezeigt.",
  },
  "sessions.more": "Sie haben mehr Sitzungen, als diese Seite anzeigen kann.",
  "sessions.endOthers": "Alle anderen Sitzungen beenden",
  "sessions.endAll": "Überall abmelden",
  "sessions.account": "Ihr Konto",
  "sessions.device": "{browser} auf {system}",
  "sessions.unknownDevice": "Unbekanntes Gerät",
  "sessions.current": "Diese Sitzung",
  "sessions.signedIn": "Angemeldet: {time}",
  "sessions.lastSeen": "Zuletzt aktiv: {time}",
  "sessions.end": "Sitzung beenden",
  "sessions.endNamed": "Sitzung beenden: {device} (angemeldet: {time})",
  "time.unknown": "Zeitpunkt unbekannt",
  "time.justNow": "vor weniger als einer Minute",

  "error.code": "Fehler {status}",
  "error.signedIn": "Falls Sie angemeldet waren, sind Sie es weiterhin.",
  "error.signedInAs": "Sie sind weiterhin als {user} angemeldet.",
  "error.unprocessed": "Was Sie gesendet haben, wurde nicht verarbeitet.",
  "error.reload": "Um es noch einmal zu senden, laden Sie diese Seite in {duration} neu.",
  "error.retry": "Versuchen Sie es in {duration} noch einmal.",
  "error.later": "Bitte versuchen Sie es gleich noch einmal.",
  "error.notUntilCorrected": "Ein neuer Versuch hilft erst, wenn sie den Fehler behoben haben.",
  "error.unavailable": "Diese Seite ist zurzeit nicht verfügbar",
  "error.parameter": "Der Parameter {name} hat keinen gültigen Wert.",
  "error.invalid_parameter": "Ein Parameter hat keinen gültigen Wert",
  "error.invalid_parameter.text": "Ein Teil der Adresse hat einen ungültigen Wert.",
  "error.host_invalid": "Unter dieser Adresse ist diese Website nicht nutzbar",
  "error.login_loop": "Die Anmeldeseite leitet auf sich selbst weiter",
  "error.login_link_invalid": "Dieser Anmeldelink ist nicht mehr gültig",
  "error.login_link_invalid.text":
    "Der Link wurde bereits verwendet, ist abgelaufen oder gehört zu einem anderen Browser. Es hat sich nichts geändert. Sie können neu beginnen.",
  "error.sign_in_refused": "Die Anmeldung konnte nicht abgeschlossen werden",
  "error.sign_in_refused.text":
    "Die Antwort des Anmeldedienstes konnte nicht angenommen werden. Diese Anmeldung hat daher nichts geändert.",
  "error.sign_in_denied": "Sie dürfen sich hier nicht anmelden",
  "error.sign_in_denied.text":
    "Sie haben sich beim Anmeldedienst angemeldet, aber diese Anwendung lässt Ihr Konto nicht zu.",
  "error.claims_rejected": "Ihrem Konto fehlen Angaben, die diese Anwendung benötigt",
  "error.claims_rejected.text":
    "Der Anmeldedienst hat nicht alle Angaben über Sie übermittelt, die diese Anwendung benötigt. Ihre Betreiber können sehen, was fehlt.",
  "error.step_up_failed": "Der Anmeldedienst hat Ihre Identität nicht erneut bestätigt",
  "error.step_up_failed.text":
    "Diese Seite erfordert eine neuere oder stärkere Anmeldung derselben Person.",
  "error.forbidden": "Sie dürfen diese Seite nicht öffnen",
  "error.forbidden.text":
    "Sie sind angemeldet, aber Ihr Konto hat nicht das Recht, diese Seite zu öffnen.",
  "error.login_required": "Sie müssen sich anmelden",
  "error.login_required.text":
    "Was Sie gesendet haben, wurde nicht verarbeitet. Melden Sie sich an und senden Sie es noch einmal.",
  "error.insufficient_user_authentication": "Melden Sie sich erneut an, um fortzufahren",
  "error.insufficient_user_authentication.text":
    "Was Sie gesendet haben, wurde nicht verarbeitet. Diese Aktion verlangt, dass Sie sich noch einmal anmelden.",
  "error.cross_origin": "Diese Anfrage kam nicht von dieser Website",
  "error.too_many_streams": "Für diese Sitzung sind zu viele Ereignisströme geöffnet",
  "error.not_found": "Unter dieser Adresse gibt es keine Seite",
  "error.not_found.text":
    "Vielleicht ist die Adresse falsch geschrieben, oder die Seite ist umgezogen.",
  "error.method_not_allowed": "Diese Methode ist hier nicht erlaubt",
  "error.method_not_allowed.text":
    "Sie können diese Adresse öffnen, aber keine Daten an sie senden.",
  "error.provider_required": "Wählen Sie, wie Sie sich anmelden",
  "error.provider_required.text":
    "Diese Anwendung bietet mehrere Wege, sich anzumelden. Wählen Sie einen davon.",
  "error.prefetch_refused": "Diese Seite kann nicht im Voraus geladen werden",
  "error.prefetch_refused.text":
    "Ihr Browser hat diese Seite angefordert, bevor Sie geklickt haben. Es ist noch nichts geschehen.",
  "error.provider_unavailable": "Der Anmeldedienst ist zurzeit nicht erreichbar",
  "error.provider_unavailable.text":
    "Der Anmeldedienst, der Ihre Identität prüft, antwortet nicht. Eine solche Störung dauert meist nicht lange.",
  "error.provider_misconfigured": "Die Anmeldung ist nicht richtig eingerichtet",
  "error.not_renewed": "Ihre Anmeldung konnte nicht verlängert werden",
  "error.not_renewed.text":
    "Der Anmeldedienst, der Ihre Identität prüft, hat Ihre Anmeldung nicht verlängert. Sie können sich jetzt neu anmelden.",
  "error.provider_misconfigured.text":
    "Die Betreiber dieser Website finden die Ursache im Protokoll.",
  "error.provider_misconfigured.organization":
    "Die Einstellungen für die Anmeldung Ihrer Organisation sind falsch. Bitten Sie die Administration Ihrer Organisation, sie zu prüfen.",
  "error.store_unavailable": "Diese Seite ist zurzeit nicht verfügbar",
  "error.store_unavailable.text":
    "Diese Website konnte nicht feststellen, ob Sie angemeldet sind. Eine solche Störung dauert meist nicht lange.",
  "error.session_missing": "Diese Seite ist zurzeit nicht verfügbar",
  "error.session_missing.text": "Diese Website konnte nicht feststellen, ob Sie angemeldet sind.",
  "error.hook_failed": "Die Anmeldung kann zurzeit nicht abgeschlossen werden",
  "error.hook_failed.text":
    "Diese Anwendung konnte nicht über Ihre Anmeldung entscheiden. Das dauert meist nur einen Moment.",
};
