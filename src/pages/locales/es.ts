import type { Messages } from "../messages.js";

export const es: Messages = {
  "title.named": "{title} – {name}",
  "title.signInError": "Inicio de sesión no completado – {title}",
  "nav.more": "Más enlaces",
  "nav.home": "Inicio",
  "action.signIn": "Iniciar sesión",
  "action.signInAgain": "Iniciar sesión de nuevo",
  "action.signOut": "Cerrar sesión",
  "action.startAgain": "Empezar de nuevo",
  "action.tryAgain": "Intentar de nuevo",
  "action.continue": "Continuar",
  "action.showAccount": "Ver mi cuenta",
  "action.signInPage": "Ir a la página de inicio de sesión",
  "user.nameless": "El proveedor de identidad no indicó ningún nombre",

  "signedOut.title": "Sesión cerrada",
  "signedOut.heading": "No ha iniciado sesión",
  "signedOut.text": "Inicie sesión con su cuenta para continuar.",
  "signedIn.title": "Sesión iniciada",
  "signedIn.heading": "Ha iniciado sesión",
  "signedIn.selectAccount": "Usar otra cuenta",
  "signedIn.status": "Estado de la sesión (JSON)",
  "ended.title": "Sesión finalizada",
  "ended.heading": "Su sesión ha finalizado",
  "ended.user": "Había iniciado sesión como",
  "ended.max_age":
    "Alcanzó la duración máxima de una sesión en este sitio. Su actividad no prolonga esa duración.",
  "ended.idle": "Estuvo inactivo más tiempo del que permite este sitio.",
  "ended.signed_in_before":
    "Este sitio pide que vuelvan a iniciar sesión quienes la iniciaron antes de cierto momento.",
  "ended.session_expiry": "Alcanzó el límite de tiempo que fijó el proveedor de identidad.",
  "ended.logged_out_at_provider": "Su organización cerró su sesión.",
  "ended.ended_everywhere":
    "La sesión se cerró desde otro dispositivo o la cerró un administrador.",
  "ended.provider_removed":
    "Ha iniciado sesión con un proveedor que esta aplicación ya no utiliza.",
  "ended.too_many_sessions":
    "Ha iniciado sesión en demasiados dispositivos, y esta sesión era la que llevaba más tiempo sin usarse.",
  "ended.auto_refresh_off":
    "La prueba de identidad que emitió el proveedor de identidad ha caducado, y este sitio no la renueva automáticamente.",
  "ended.no_refresh_token":
    "La prueba de identidad que emitió el proveedor de identidad ha caducado, y este no permitió que el sitio la renovara.",
  "ended.refresh_rejected":
    "La prueba de identidad que emitió el proveedor de identidad ha caducado, y este se negó a renovarla.",
  "ended.claims_rejected":
    "El proveedor de identidad ya no envía todos los datos sobre usted que este sitio necesita.",
  "ended.denied": "Este sitio ya no admite su cuenta.",
  "rule.max_age": "Duración máxima",
  "rule.idle": "Límite de inactividad",
  "rule.duration": "{rule}: {duration}",

  "signIn.failed": "El inicio de sesión no se completó.",
  "signIn.access_denied": "No dio su consentimiento, o su cuenta no puede usar esta aplicación.",
  "signIn.login_required": "Primero debe iniciar sesión en el proveedor de identidad.",
  "signIn.consent_required": "El proveedor de identidad necesita primero su consentimiento.",
  "signIn.interaction_required": "El proveedor de identidad debe hacerle primero una pregunta.",
  "signIn.account_selection_required":
    "Primero debe elegir una cuenta en el proveedor de identidad.",
  "signIn.invalid_request":
    "El proveedor de identidad no pudo leer la solicitud de esta aplicación.",
  "signIn.unauthorized_client":
    "El proveedor de identidad no permite que esta aplicación inicie sesiones de esta forma.",
  "signIn.unsupported_response_type":
    "El proveedor de identidad no admite la forma en que esta aplicación inicia sesiones.",
  "signIn.invalid_scope":
    "El proveedor de identidad no ofrece todos los permisos que solicita esta aplicación.",
  "signIn.server_error": "Se produjo un error en el proveedor de identidad.",
  "signIn.temporarily_unavailable":
    "El proveedor de identidad está sobrecargado o en mantenimiento. Vuelva a intentarlo dentro de un momento.",
  "signIn.provider_error":
    "El proveedor de identidad interrumpió el inicio de sesión por un motivo que este sitio no conoce.",

  "popup.close": "Puede cerrar esta ventana.",
  "popup.stay": "Continuar en esta ventana",

  "chooser.heading": "Elija cómo iniciar sesión",
  "organization.heading": "Inicie sesión con su organización",
  "organization.text": "Su organización decide cómo inicia usted sesión.",
  "organization.email": "Correo electrónico del trabajo",
  "organization.unknown":
    "No conocemos esta organización. Compruebe que la dirección esté bien escrita o pregunte a su administrador si su organización usa esta aplicación.",
  "organization.unknownTitle": "Organización no encontrada – {title}",
  "organization.others": "Otras formas de iniciar sesión",
  "otherUser.heading": "¿Qué cuenta quiere usar?",
  "otherUser.text":
    "Ha iniciado sesión como {present}. Un enlace u otro sitio ha empezado a iniciar sesión como {other}.",
  "otherUser.stay": "Seguir como {present}",
  "otherUser.continue": "Continuar como {other}",
  "otherUser.unnamed": "cuenta sin nombre",
  "confirm.heading": "¿Quiere iniciar sesión?",
  "confirm.text":
    "Otro sitio ha cerrado su sesión. Después, un enlace u otro sitio ha empezado a iniciar sesión como {other}.",
  "confirm.stay": "Seguir sin iniciar sesión",

  "sessions.title": "Sus sesiones",
  "sessions.text":
    "Ha iniciado sesión en estos dispositivos. Cierre las sesiones que no reconozca.",
  "sessions.textOfProvider":
    "Ha iniciado sesión con {provider} en estos dispositivos. Cierre las sesiones que no reconozca.",
  "sessions.hidden": {
    one: "No se muestra {count} sesión más antigua.",
    many: "No se muestran {count} sesiones más antiguas.",
    other: "No se muestran {count} sesiones más antiguas.",
  },
  "sessions.more": "Tiene más sesiones de las que puede mostrar esta página.",
  "sessions.endOthers": "Cerrar las demás sesiones",
  "sessions.endAll": "Cerrar sesión en todos los dispositivos",
  "sessions.account": "Su cuenta",
  "sessions.device": "{browser} en {system}",
  "sessions.unknownDevice": "Dispositivo desconocido",
  "sessions.current": "Esta sesión",
  "sessions.signedIn": "Inicio: {time}",
  "sessions.lastSeen": "Última actividad: {time}",
  "sessions.end": "Cerrar esta sesión",
  "sessions.endNamed": "Cerrar esta sesión: {device} (inicio: {time})",
  "time.unknown": "fecha desconocida",
  "time.justNow": "hace menos de un minuto",

  "error.code": "Error {status}",
  "error.signedIn": "Si había iniciado sesión, la sesión sigue abierta.",
  "error.signedInAs": "Su sesión sigue abierta como {user}.",
  "error.unprocessed": "Lo que envió no se ha procesado.",
  "error.reload": "Para enviarlo de nuevo, recargue esta página dentro de {duration}.",
  "error.retry": "Vuelva a intentarlo dentro de {duration}.",
  "error.later": "Vuelva a intentarlo dentro de un momento.",
  "error.notUntilCorrected": "No sirve de nada volver a intentarlo hasta que la corrijan.",
  "error.unavailable": "Esta página no está disponible en este momento",
  "error.parameter": "El parámetro {name} no tiene un valor válido.",
  "error.invalid_parameter": "Un parámetro no tiene un valor válido",
  "error.invalid_parameter.text": "Una parte de la dirección tiene un valor no válido.",
  "error.host_invalid": "Este sitio no se puede usar en esta dirección",
  "error.login_loop": "La página de inicio de sesión se redirige a sí misma",
  "error.login_link_invalid": "Este enlace de inicio de sesión ya no es válido",
  "error.login_link_invalid.text":
    "El enlace ya se usó, ha caducado o pertenece a otro navegador. No ha cambiado nada. Puede empezar de nuevo.",
  "error.sign_in_refused": "No se pudo completar el inicio de sesión",
  "error.sign_in_refused.text":
    "No se pudo aceptar la respuesta del proveedor de identidad, así que este inicio de sesión no ha cambiado nada.",
  "error.sign_in_denied": "No puede iniciar sesión aquí",
  "error.sign_in_denied.text":
    "Ha iniciado sesión en el proveedor de identidad, pero esta aplicación no admite su cuenta.",
  "error.claims_rejected": "A su cuenta le faltan datos que esta aplicación necesita",
  "error.claims_rejected.text":
    "El proveedor de identidad no envió todos los datos sobre usted que esta aplicación necesita. Sus responsables pueden ver qué falta.",
  "error.step_up_failed": "El proveedor de identidad no volvió a confirmar su identidad",
  "error.step_up_failed.text":
    "Esta página requiere un inicio de sesión más reciente o más seguro de la misma persona.",
  "error.forbidden": "No puede abrir esta página",
  "error.forbidden.text":
    "Ha iniciado sesión, pero su cuenta no tiene permiso para abrir esta página.",
  "error.login_required": "Debe iniciar sesión",
  "error.login_required.text": "Lo que envió no se ha procesado. Inicie sesión y envíelo de nuevo.",
  "error.insufficient_user_authentication": "Inicie sesión de nuevo para continuar",
  "error.insufficient_user_authentication.text":
    "Lo que envió no se ha procesado. Esta acción requiere que inicie sesión de nuevo.",
  "error.cross_origin": "Esta solicitud no procede de este sitio",
  "error.too_many_streams": "Esta sesión tiene demasiados flujos de eventos abiertos",
  "error.not_found": "No hay ninguna página en esta dirección",
  "error.not_found.text":
    "Puede que la dirección esté mal escrita o que la página se haya trasladado.",
  "error.method_not_allowed": "Este método no está permitido aquí",
  "error.method_not_allowed.text": "Puede abrir esta dirección, pero no enviarle datos.",
  "error.provider_required": "Elija cómo iniciar sesión",
  "error.provider_required.text":
    "Esta aplicación ofrece varias formas de iniciar sesión. Elija una.",
  "error.prefetch_refused": "Esta página no se puede cargar por adelantado",
  "error.prefetch_refused.text":
    "Su navegador solicitó esta página antes de que usted hiciera clic. Todavía no ha ocurrido nada.",
  "error.provider_unavailable": "El proveedor de identidad no está disponible en este momento",
  "error.provider_unavailable.text":
    "El proveedor de identidad, que comprueba quién es usted, no responde. Estas interrupciones suelen ser breves.",
  "error.provider_misconfigured": "El inicio de sesión no está bien configurado",
  "error.not_renewed": "No se ha podido renovar su inicio de sesión",
  "error.not_renewed.text":
    "El proveedor de identidad, que comprueba quién es usted, no ha renovado su inicio de sesión. Puede iniciar sesión de nuevo ahora.",
  "error.provider_misconfigured.text":
    "Los responsables de este sitio pueden ver la causa en su registro.",
  "error.provider_misconfigured.organization":
    "La configuración del inicio de sesión de su organización es incorrecta. Pida a su administrador que la revise.",
  "error.store_unavailable": "Esta página no está disponible en este momento",
  "error.store_unavailable.text":
    "Este sitio no pudo averiguar si usted ha iniciado sesión. Estas interrupciones suelen ser breves.",
  "error.session_missing": "Esta página no está disponible en este momento",
  "error.session_missing.text": "Este sitio no pudo averiguar si usted ha iniciado sesión.",
  "error.hook_failed": "El inicio de sesión no se puede completar en este momento",
  "error.hook_failed.text":
    "Esta aplicación no pudo decidir sobre su inicio de sesión. Suele resolverse en un momento.",
};
