// Owns an answer of the sign-in pages, and the frame of every page: the fields that keep browsers from doing more with it than
// showing it.

internal import FoundationEssentials
internal import HTTP
internal import Network

/// An answer.
struct SignInAnswer: Sendable {
  var status: Int
  /// Names as they are sent; framing fields are the connection's.
  var fields: [(name: StaticString, value: String)] = []
  var body: [UInt8] = []

  /// Sends the browser on by GET.
  static func seeOther(_ location: String) -> SignInAnswer {
    SignInAnswer(
      status: 303,
      fields: [("Location", location), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")])
  }
}

/// The frame of pages.
struct PageFrame: Sendable {
  private let styleDigest: String

  init() throws(CryptoError) {
    styleDigest = "'sha256-\(Data(try SHA256.digest(of: Array(PageStyle.sheet.utf8))).base64EncodedString())'"
  }

  /// A page. `formAction` lists where its forms may lead, redirects included: browsers check those too.
  /// With `refresh`, the browser goes there by itself.
  func page(
    _ status: Int, _ title: String, _ content: Markup, formAction: String = "'none'", refresh: ReturnPath? = nil
  ) -> SignInAnswer {
    // Named, as text that is HTML already: its digest would not survive escaping.
    let style = Markup(stringLiteral: PageStyle.sheet)
    let next: Markup = refresh.map { "<meta http-equiv=\"refresh\" content=\"0;url=\($0.text)\">\n" } ?? ""
    let page: Markup = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <title>\(title)</title>
      <meta name="viewport" content="width=device-width,initial-scale=1">
      \(next)<link rel="icon" href="data:,">
      <style>\(style)</style>
      </head>
      <body>
      <main>
      <h1>\(title)</h1>
      \(content)
      </main>
      <footer>bearer-proxy</footer>
      </body>
      </html>

      """
    let policy =
      "default-src 'none'; style-src \(styleDigest); img-src data:; base-uri 'none'; frame-ancestors 'none'; "
      + "form-action \(formAction)"
    return SignInAnswer(
      status: status,
      fields: [
        ("Content-Type", "text/html; charset=utf-8"), ("Content-Security-Policy", policy), ("X-Frame-Options", "DENY"),
        ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
        ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
      ], body: Array(page.text.utf8))
  }
}

/// How pages look.
enum PageStyle {
  /// System fonts, both colour schemes, visible focus, nothing from elsewhere.
  static let sheet = """
    :root{color-scheme:light dark;--ink:#16202a;--quiet:#566472;--page:#f2f4f6;--card:#fff;--line:#cfd6dd;\
    --main:#0a5a52;--on-main:#fff;--note:#eef6f5;--bad:#9b1c1c;--bad-back:#fdf1f0}
    @media (prefers-color-scheme:dark){:root{--ink:#e8edf1;--quiet:#a3b0bc;--page:#12171c;--card:#1b2229;--line:#3d4955;\
    --main:#7fd6cb;--on-main:#06201d;--note:#16302e;--bad:#ffb4ab;--bad-back:#3a1c1b}}
    *{box-sizing:border-box}
    body{margin:0;padding:1rem;min-height:100vh;display:flex;flex-direction:column;align-items:center;\
    justify-content:center;gap:1rem;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
    main{width:100%;max-width:30rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem;\
    padding:2rem 1.75rem}
    h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
    h2{font-size:1rem;margin:1.5rem 0 .25rem}
    p{margin:.25rem 0 .75rem}
    p,li,b,label{overflow-wrap:anywhere}
    ul{margin:0 0 1rem;padding-left:1.25rem}
    li{margin:.25rem 0}
    li small{color:var(--quiet)}
    fieldset{border:0;padding:0;margin:1.5rem 0 0}
    legend{font-weight:600;padding:0;margin-bottom:.5rem}
    label{display:flex;gap:.6rem;align-items:center;min-height:2.75rem;padding:.5rem .75rem;margin:.4rem 0;\
    border:1px solid var(--line);border-radius:.4rem;cursor:pointer}
    input[type=radio]{accent-color:var(--main);width:1.1rem;height:1.1rem;margin:0;flex:none}
    .quiet,footer{color:var(--quiet);font-size:.875rem}
    .note,.problem{border-radius:.4rem;padding:.6rem .75rem;margin:.75rem 0}
    .note{background:var(--note)}
    .problem{color:var(--bad);background:var(--bad-back)}
    .buttons{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
    button,a.button{font:inherit;font-weight:600;min-height:2.75rem;padding:.5rem 1.25rem;border-radius:.4rem;\
    cursor:pointer;border:1px solid var(--main);background:var(--main);color:var(--on-main);text-decoration:none;\
    display:inline-flex;align-items:center}
    :focus-visible{outline:3px solid var(--main);outline-offset:2px}
    """
}
