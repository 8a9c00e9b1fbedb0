import type { Messages } from "../messages.js";

export const ja: Messages = {
  "title.named": "{title} – {name}",
  "title.signInError": "ログイン未完了 – {title}",
  "nav.more": "その他のリンク",
  "nav.home": "ホーム",
  "action.signIn": "ログイン",
  "action.signInAgain": "もう一度ログイン",
  "action.signOut": "ログアウト",
  "action.startAgain": "最初からやり直す",
  "action.tryAgain": "再試行",
  "action.continue": "続ける",
  "action.showAccount": "アカウントを表示",
  "action.signInPage": "ログインページへ",
  "user.nameless": "認証サービスから名前が提供されていません",

  "signedOut.title": "ログアウト中",
  "signedOut.heading": "ログインしていません",
  "signedOut.text": "続けるには、アカウントでログインしてください。",
  "signedIn.title": "ログイン中",
  "signedIn.heading": "ログインしています",
  "signedIn.selectAccount": "別のアカウントを使う",
  "signedIn.status": "セッションの状態（JSON）",
  "ended.title": "セッション終了",
  "ended.heading": "セッションが終了しました",
  "ended.user": "ログインしていたアカウント",
  "ended.max_age":
    "このサイトのセッションの最長時間に達しました。操作を続けていても、この時間は延長されません。",
  "ended.idle": "このサイトで許可されている時間を超えて、操作がありませんでした。",
  "ended.signed_in_before":
    "このサイトでは、一定の時刻より前にログインした場合、もう一度ログインする必要があります。",
  "ended.session_expiry": "認証サービスが定めた制限時間に達しました。",
  "ended.logged_out_at_provider": "所属組織によってログアウトされました。",
  "ended.ended_everywhere": "別の端末または管理者によって、このセッションが終了されました。",
  "ended.provider_removed":
    "このアプリケーションで使用されなくなったプロバイダーでログインしていました。",
  "ended.too_many_sessions":
    "ログインしている端末が多すぎるため、最も長く使われていなかったこのセッションが終了されました。",
  "ended.auto_refresh_off":
    "認証サービスによる本人確認の有効期限が切れました。このサイトでは自動的に更新されません。",
  "ended.no_refresh_token":
    "認証サービスによる本人確認の有効期限が切れました。このサイトによる更新は許可されていません。",
  "ended.refresh_rejected":
    "認証サービスによる本人確認の有効期限が切れ、更新も認証サービスに拒否されました。",
  "ended.claims_rejected":
    "このサイトに必要な情報の一部が、認証サービスから提供されなくなりました。",
  "ended.denied": "お使いのアカウントは、このサイトでは使用できなくなりました。",
  "rule.max_age": "最長時間",
  "rule.idle": "無操作の制限時間",
  "rule.duration": "{rule}：{duration}",

  "signIn.failed": "ログインは完了しませんでした。",
  "signIn.access_denied":
    "同意が得られなかったか、お使いのアカウントではこのアプリケーションを利用できません。",
  "signIn.login_required": "先に認証サービスでログインする必要があります。",
  "signIn.consent_required": "先に認証サービスで同意する必要があります。",
  "signIn.interaction_required": "先に認証サービスでの確認が必要です。",
  "signIn.account_selection_required": "先に認証サービスでアカウントを選択する必要があります。",
  "signIn.invalid_request": "認証サービスがこのアプリケーションの要求を読み取れませんでした。",
  "signIn.unauthorized_client":
    "認証サービスは、このアプリケーションにこの方法でのログインを許可していません。",
  "signIn.unsupported_response_type":
    "認証サービスは、このアプリケーションのログイン方法に対応していません。",
  "signIn.invalid_scope":
    "認証サービスは、このアプリケーションが要求する権限の一部を提供していません。",
  "signIn.server_error": "認証サービスで問題が発生しました。",
  "signIn.temporarily_unavailable":
    "認証サービスが混雑しているか、メンテナンス中です。しばらくしてからもう一度お試しください。",
  "signIn.provider_error":
    "認証サービスがログインを中断しました。このサイトでは理由がわかりません。",

  "popup.close": "このウィンドウは閉じてかまいません。",
  "popup.stay": "このウィンドウで続ける",

  "chooser.heading": "ログイン方法を選択してください",
  "organization.heading": "所属組織でログイン",
  "organization.text": "ログイン方法は所属組織が決定します。",
  "organization.email": "勤務先のメールアドレス",
  "organization.unknown":
    "この組織は登録されていません。メールアドレスに誤りがないか確認するか、組織がこのアプリケーションを利用しているかを管理者に問い合わせてください。",
  "organization.unknownTitle": "組織が見つかりません – {title}",
  "organization.others": "その他のログイン方法",
  "otherUser.heading": "どのアカウントを使いますか",
  "otherUser.text":
    "現在 {present} としてログインしています。リンクまたは別のサイトが {other} としてのログインを開始しました。",
  "otherUser.stay": "{present} のまま続ける",
  "otherUser.continue": "{other} として続ける",
  "otherUser.unnamed": "名前のないアカウント",
  "confirm.heading": "ログインしますか",
  "confirm.text":
    "別のサイトによってログアウトされました。その後、リンクまたは別のサイトが {other} としてのログインを開始しました。",
  "confirm.stay": "ログアウトしたままにする",

  "sessions.title": "セッション一覧",
  "sessions.text": "次の端末でログインしています。心当たりのないセッションは終了してください。",
  "sessions.textOfProvider":
    "次の端末で {provider} を使ってログインしています。心当たりのないセッションは終了してください。",
  "sessions.hidden": {
    other: "ほかに古いセッションが {count} 件あります（表示されていません）。",
  },
  "sessions.more": "このページに表示しきれないセッションがあります。",
  "sessions.endOthers": "ほかのセッションをすべて終了",
  "sessions.endAll": "すべての端末でログアウト",
  "sessions.account": "アカウント",
  "sessions.device": "{system} の {browser}",
  "sessions.unknownDevice": "不明な端末",
  "sessions.current": "このセッション",
  "sessions.signedIn": "ログイン：{time}",
  "sessions.lastSeen": "最後の操作：{time}",
  "sessions.end": "セッションを終了",
  "sessions.endNamed": "セッションを終了：{device}（ログイン：{time}）",
  "time.unknown": "時刻不明",
  "time.justNow": "1 分以内",

  "error.code": "エラー {status}",
  "error.signedIn": "ログインしていた場合、その状態は続いています。",
  "error.signedInAs": "引き続き {user} としてログインしています。",
  "error.unprocessed": "送信された内容は処理されていません。",
  "error.reload": "もう一度送信するには、{duration}後にこのページを再読み込みしてください。",
  "error.retry": "{duration}後にもう一度お試しください。",
  "error.later": "しばらくしてからもう一度お試しください。",
  "error.notUntilCorrected": "修正されるまでは、もう一度試しても解決しません。",
  "error.unavailable": "このページは現在ご利用いただけません",
  "error.parameter": "パラメーター {name} の値が正しくありません。",
  "error.invalid_parameter": "パラメーターの値が正しくありません",
  "error.invalid_parameter.text": "アドレスの一部に正しくない値があります。",
  "error.host_invalid": "このアドレスでは、このサイトをご利用いただけません",
  "error.login_loop": "ログインページが自分自身にリダイレクトしています",
  "error.login_link_invalid": "このログイン用リンクは無効になりました",
  "error.login_link_invalid.text":
    "リンクはすでに使用されたか、有効期限が切れたか、別のブラウザーのものです。変更は行われていません。最初からやり直せます。",
  "error.sign_in_refused": "ログインを完了できませんでした",
  "error.sign_in_refused.text":
    "認証サービスの応答を受け入れられなかったため、このログインによる変更はありません。",
  "error.sign_in_denied": "ここにはログインできません",
  "error.sign_in_denied.text":
    "認証サービスでのログインは済んでいますが、お使いのアカウントはこのアプリケーションでは使用できません。",
  "error.claims_rejected": "このアプリケーションに必要な情報がアカウントにありません",
  "error.claims_rejected.text":
    "このアプリケーションに必要な情報の一部が、認証サービスから提供されませんでした。不足している情報は運営者が確認できます。",
  "error.step_up_failed": "認証サービスで本人確認をやり直せませんでした",
  "error.step_up_failed.text":
    "このページには、同じ方による新しいログイン、またはより強力なログインが必要です。",
  "error.forbidden": "このページを開く権限がありません",
  "error.forbidden.text":
    "ログインしていますが、お使いのアカウントにはこのページを開く権限がありません。",
  "error.login_required": "ログインが必要です",
  "error.login_required.text":
    "送信された内容は処理されていません。ログインしてから、もう一度送信してください。",
  "error.insufficient_user_authentication": "続けるには、もう一度ログインしてください",
  "error.insufficient_user_authentication.text":
    "送信された内容は処理されていません。この操作には再ログインが必要です。",
  "error.cross_origin": "この要求はこのサイトから送信されたものではありません",
  "error.too_many_streams": "このセッションで開いているイベントストリームが多すぎます",
  "error.not_found": "このアドレスにページはありません",
  "error.not_found.text": "アドレスが間違っているか、ページが移動した可能性があります。",
  "error.method_not_allowed": "このメソッドはここでは使用できません",
  "error.method_not_allowed.text": "このアドレスは開けますが、データを送信することはできません。",
  "error.provider_required": "ログイン方法を選択してください",
  "error.provider_required.text":
    "このアプリケーションには複数のログイン方法があります。いずれかを選択してください。",
  "error.prefetch_refused": "このページは先読みできません",
  "error.prefetch_refused.text":
    "クリックする前に、ブラウザーがこのページを要求しました。まだ何も行われていません。",
  "error.provider_unavailable": "現在、認証サービスに接続できません",
  "error.provider_unavailable.text":
    "本人確認を行う認証サービスが応答していません。通常、このような障害は短時間で解消します。",
  "error.provider_misconfigured": "ログインが正しく設定されていません",
  "error.not_renewed": "ログインを更新できませんでした",
  "error.not_renewed.text":
    "本人確認を行う認証サービスがログインを更新しませんでした。今すぐ再度ログインできます。",
  "error.provider_misconfigured.text": "原因は、このサイトの運営者がログで確認できます。",
  "error.provider_misconfigured.organization":
    "組織のログイン設定が正しくありません。組織の管理者に設定の確認を依頼してください。",
  "error.store_unavailable": "このページは現在ご利用いただけません",
  "error.store_unavailable.text":
    "ログインしているかどうかを確認できませんでした。通常、このような障害は短時間で解消します。",
  "error.session_missing": "このページは現在ご利用いただけません",
  "error.session_missing.text": "ログインしているかどうかを確認できませんでした。",
  "error.hook_failed": "現在、ログインを完了できません",
  "error.hook_failed.text":
    "このアプリケーションがログインの可否を判断できませんでした。通常はすぐに解消します。",
};
