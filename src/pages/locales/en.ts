import { PAGE_ERRORS } from "../../errors.js";
import type { SignInErrorCode } from "../../record/sign-in-errors.js";
import type { Message } from "./message.js";

const TITLES = Object.fromEntries(
  Object.entries(PAGE_ERRORS).map(([code, { title }]) => [`error.${code}`, title]),
) as {
  readonly [Code in keyof typeof PAGE_ERRORS as `error.${Code}`]: string;
};

/**
 * The English texts. A text that another language lacks is English there, too. Every language has
 * the same placeholders, such as `{duration}`. A text has no markup. A text with plural forms has one for each plural category of
 * its language (CLDR).
 */
export const en = {
  // Parts of every page
  "title.named": "{title} – {name}",
  "title.signInError": "Sign-in not completed – {title}",
  "nav.more": "More",
  "nav.home": "Home",
  "action.signIn": "Sign in",
  "action.signInAgain": "Sign in again",
  "action.signOut": "Sign out",
  "action.startAgain": "Start again",
  "action.tryAgain": "Try again",
  "action.continue": "Continue",
  "action.showAccount": "Show my account",
  "action.signInPage": "Go to the sign-in page",
  "user.nameless": "Your provider sent no name",

  // The landing page
  "signedOut.title": "Signed out",
  "signedOut.heading": "You are signed out",
  "signedOut.text": "Sign in with your account to continue.",
  "signedIn.title": "Signed in",
  "signedIn.heading": "You are signed in",
  "signedIn.selectAccount": "Use another account",
  "signedIn.status": "Session status (JSON)",
  "ended.title": "Session ended",
  "ended.heading": "Your session has ended",
  "ended.user": "You were signed in as",
  "ended.max_age":
    "It reached the maximum age of a session on this site. Staying active does not extend it.",
  "ended.idle": "You were inactive for longer than this site allows.",
  "ended.signed_in_before":
    "This site asks everyone who signed in before a certain time to sign in again.",
  "ended.session_expiry": "It reached the time limit that the identity provider set for it.",
  "ended.logged_out_at_provider": "You were signed out by your organization.",
  "ended.ended_everywhere": "This session was ended on another device, or by an administrator.",
  "ended.provider_removed": "You signed in with a provider that this application no longer uses.",
  "ended.too_many_sessions":
    "You signed in on too many devices, and this session had been unused the longest.",
  "ended.auto_refresh_off":
    "The provider's proof of your identity has expired, and this site does not renew it automatically.",
  "ended.no_refresh_token":
    "The provider's proof of your identity has expired, and the provider did not allow this site to renew it.",
  "ended.refresh_rejected":
    "The provider's proof of your identity has expired, and the provider refused to renew it.",
  "ended.claims_rejected":
    "The identity provider no longer sends all the information about you that this site needs.",
  "ended.denied": "Your account is no longer allowed to use this site.",
  "rule.max_age": "Maximum age",
  "rule.idle": "Idle timeout",
  "rule.duration": "{rule}: {duration}",

  // The sign-in ended with an error code of the provider
  "signIn.failed": "The sign-in was not completed.",
  "signIn.access_denied":
    "You did not give your consent, or your account is not allowed to use this application.",
  "signIn.login_required": "You must sign in at the identity provider first.",
  "signIn.consent_required": "The identity provider needs your consent first.",
  "signIn.interaction_required": "The identity provider must ask you a question first.",
  "signIn.account_selection_required": "You must choose an account at the identity provider first.",
  "signIn.invalid_request": "The identity provider could not read this application's request.",
  "signIn.unauthorized_client":
    "The identity provider does not allow this application to sign users in this way.",
  "signIn.unsupported_response_type":
    "The identity provider does not support the way this application signs users in.",
  "signIn.invalid_scope":
    "The identity provider does not offer all the permissions that this application requests.",
  "signIn.server_error": "Something went wrong at the identity provider.",
  "signIn.temporarily_unavailable":
    "The identity provider is busy or under maintenance. Try again in a moment.",
  "signIn.provider_error":
    "The identity provider ended the sign-in for a reason that this site does not recognize.",

  // The page on which a sign-in in a popup window ends
  "popup.close": "You can close this window.",
  "popup.stay": "Continue in this window",

  // The page on which users choose a provider
  "chooser.heading": "Choose how to sign in",

  // The page that asks for the work email address
  "organization.heading": "Sign in with your organization",
  "organization.text": "Your organization decides how you sign in.",
  "organization.email": "Work email address",
  "organization.unknown":
    "We don't know this organization. Check the address for typing errors, or ask your administrator whether your organization uses this application.",
  "organization.unknownTitle": "Organization not found – {title}",
  "organization.others": "Other ways to sign in",

  // A login of another user, which another site may have started
  "otherUser.heading": "Which account do you want to use?",
  "otherUser.text":
    "You are signed in as {present}. A link or another site has started a sign-in as {other}.",
  "otherUser.stay": "Stay as {present}",
  "otherUser.continue": "Continue as {other}",
  "otherUser.unnamed": "an account without a name",
  "confirm.heading": "Do you want to sign in?",
  "confirm.text":
    "Another site signed you out. A link or another site has then started a sign-in as {other}.",
  "confirm.stay": "Stay signed out",

  // The user's sessions
  "sessions.title": "Your sessions",
  "sessions.text": "You are signed in on these devices. End any session that you do not recognize.",
  "sessions.textOfProvider":
    "You are signed in with {provider} on these devices. End any session that you do not recognize.",
  "sessions.hidden": {
    one: "{count} older session is not shown.",
    other: "{count} older sessions are not shown.",
  },
  "sessions.more": "You have more sessions than this page can show.",
  "sessions.endOthers": "End all other sessions",
  "sessions.endAll": "Sign out everywhere",
  "sessions.account": "Your account",
  "sessions.device": "{browser} on {system}",
  "sessions.unknownDevice": "Unknown device",
  "sessions.current": "This session",
  "sessions.signedIn": "Signed in {time}",
  "sessions.lastSeen": "Last seen {time}",
  "sessions.end": "End session",
  "sessions.endNamed": "End session: {device}, signed in {time}",
  "time.unknown": "at an unknown time",
  "time.justNow": "less than a minute ago",

  // Errors: a title from the table of errors, and a text that explains it
  ...TITLES,
  "error.host_invalid": "This site can't be used at this address",
  "error.store_unavailable": "This page isn't available right now",
  "error.session_missing": "This page isn't available right now",
  "error.code": "Error {status}",
  "error.signedIn": "If you were signed in, you still are.",
  "error.signedInAs": "You are still signed in as {user}.",
  "error.unprocessed": "What you sent has not been processed.",
  "error.reload": "To send it again, reload this page in {duration}.",
  "error.retry": "Try again in {duration}.",
  "error.later": "Please try again in a moment.",
  "error.notUntilCorrected": "Trying again will not help until they have corrected it.",
  "error.unavailable": "This page isn't available right now",
  "error.parameter": "The value of the parameter {name} is invalid.",
  "error.invalid_parameter.text": "Part of the address is invalid.",
  "error.login_link_invalid.text":
    "The link was already used, has expired, or belongs to another browser. Nothing has changed. You can start again.",
  "error.sign_in_refused.text":
    "The identity provider's response could not be accepted, so this sign-in has changed nothing.",
  "error.sign_in_denied.text":
    "You signed in at the identity provider, but your account is not allowed to use this application.",
  "error.claims_rejected.text":
    "The identity provider did not send everything about you that this application needs. The application's operators can see what is missing.",
  "error.step_up_failed.text":
    "This page requires a recent or a stronger sign-in by the same person.",
  "error.forbidden.text":
    "You are signed in, but your account does not have permission to open this page.",
  "error.login_required.text": "What you sent has not been processed. Sign in, then send it again.",
  "error.insufficient_user_authentication.text":
    "What you sent has not been processed. This action requires you to sign in again.",
  "error.not_found.text": "The address might be mistyped, or the page might have moved.",
  "error.method_not_allowed.text": "You can open this address, but you cannot send data to it.",
  "error.provider_required.text":
    "The application offers several ways to sign in. Choose one of them.",
  "error.prefetch_refused.text":
    "Your browser requested this page before you clicked. Nothing has happened yet.",
  "error.provider_unavailable.text":
    "The identity provider, which checks who you are, is not responding. Such an outage is usually short.",
  "error.not_renewed": "Your sign-in could not be renewed",
  "error.not_renewed.text":
    "The identity provider, which checks who you are, did not renew your sign-in. You can sign in again now.",
  "error.provider_misconfigured.text":
    "The operators of this site can see the cause in the site's log.",
  "error.provider_misconfigured.organization":
    "The sign-in settings of your organization are wrong. Ask your organization's administrator to check them.",
  "error.store_unavailable.text":
    "This site could not check whether you are signed in. Such an outage is usually short.",
  "error.session_missing.text": "This site could not check whether you are signed in.",
  "error.hook_failed.text":
    "This application could not finish processing your sign-in. Such a problem is usually short.",
} as const satisfies Readonly<
  Record<string, Message> & Record<`signIn.${SignInErrorCode}`, string>
>;
