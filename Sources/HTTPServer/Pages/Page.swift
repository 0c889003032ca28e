internal import Bytes
internal import Platform

/// A page for a person: one frame and one style for all, and the fields that keep browsers from doing more with it than
/// showing it.
package struct Page: Sendable {
  /// The document's title, which browsers show in the tab.
  package var title: String
  /// The contents of the page's main element.
  package var content: Markup
  /// The contents below it: the page's owner.
  package var footer: Markup = "bearer-proxy"
  /// The targets of the page's forms, redirects included: browsers check those too.
  package var formAction = "'none'"
  /// The address to which the browser goes by itself at once.
  package var refresh: String?
  /// True if the page's only form is sent by a script.
  package var submitsItself = false
  /// True if a script removes the query from the address bar: an answer's code is useless there, and would stay in the
  /// history.
  package var hidesQuery = false
  /// `same-origin` shows the server that a form is one of its own; `no-referrer` hides the page's address.
  package var referrerPolicy = "no-referrer"

  /// A page with a heading, which is its title unless it has another one.
  package init(_ heading: String, title: String? = nil, _ content: Markup) {
    self.title = title ?? heading
    self.content = "<h1>\(heading)</h1>\n\(content)"
  }

  package var html: [UInt8] {
    // As text that is HTML already: its digest would not survive escaping.
    let style = Markup(stringLiteral: PageStyle.sheet)
    let script = Markup(stringLiteral: self.script.map { "<script>\($0.text)</script>\n" } ?? "")
    let next: Markup = refresh.map { "<meta http-equiv=\"refresh\" content=\"0;url=\($0)\">\n" } ?? ""
    let page: Markup = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <title>\(title)</title>
      <meta name="viewport" content="width=device-width,initial-scale=1">
      \(next)\(submitsItself ? "" : script)<link rel="icon" href="data:,">
      <style>\(style)</style>
      </head>
      <body>
      <main>
      \(content)
      </main>
      <footer>\(footer)</footer>
      \(submitsItself ? script : "")</body>
      </html>

      """
    return Array(page.text.utf8)
  }

  private var script: (text: String, digest: String)? {
    if submitsItself { return (PageStyle.script, PageStyle.scriptDigest) }
    return hidesQuery ? (PageStyle.addressScript, PageStyle.addressScriptDigest) : nil
  }

  /// The fields of an answer with the page.
  package var fields: [(name: StaticString, value: String)] {
    let script = self.script.map { "; script-src \($0.digest)" } ?? ""
    let policy =
      "default-src 'none'; style-src \(PageStyle.sheetDigest); img-src data:; base-uri 'none'; "
      + "frame-ancestors 'none'; form-action \(formAction)\(script)"
    return [
      ("Content-Type", Self.contentType), ("Content-Security-Policy", policy), ("X-Frame-Options", "DENY"),
      ("X-Content-Type-Options", "nosniff"),
      ("Referrer-Policy", referrerPolicy), ("Cache-Control", "no-store"), ("Cross-Origin-Opener-Policy", "same-origin"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
  }

  /// Facts that most people need not read, folded; nothing if there are none.
  package static func details(_ facts: [(name: String, text: String)], _ more: Markup = "") -> Markup {
    let facts = facts.filter { !$0.text.isEmpty }
    if facts.isEmpty { return "" }
    let rows: [Markup] = facts.map { "<div><dt>\($0.name)</dt><dd><code>\($0.text)</code></dd></div>\n" }
    return "<details><summary>Details</summary>\n\(more)<dl>\n\(rows)</dl>\n</details>\n"
  }

  /// The media type of `html`.
  package static let contentType = "text/html; charset=utf-8"

  package func response(_ status: Int) -> ServerResponse {
    ServerResponse(status: status, fields: fields.map { ("\($0.name)", $0.value) }, content: .whole(html))
  }
}

/// The style of all pages, and the two scripts. All are constant, so that the content security policy can name them by
/// digest.
private enum PageStyle {
  static let sheetDigest = digest(sheet)
  static let scriptDigest = digest(script)
  static let addressScriptDigest = digest(addressScript)

  /// Without a digest there is no style and no script, and the page is still readable.
  private static func digest(_ text: String) -> String {
    do throws(CryptoError) {
      return "'sha256-\(Base64.encode(try SHA256.digest(of: Array(text.utf8))))'"
    } catch {
      return "'none'"
    }
  }

  /// Sends the only form of a page that is nothing but a form.
  static let script = "document.forms[0].submit()"

  /// Leaves the path alone in the address bar.
  static let addressScript = "history.replaceState(null,'',location.pathname)"

  /// System fonts, both colour schemes, visible focus, nothing from elsewhere.
  static let sheet = """
    :root{color-scheme:light dark;--ink:#16202a;--quiet:#566472;--page:#f2f4f6;--card:#fff;--line:#cfd6dd;\
    --main:#0a5a52;--on-main:#fff;--note:#eef6f5;--bad:#9b1c1c;--bad-back:#fdf1f0}
    @media (prefers-color-scheme:dark){:root{--ink:#e8edf1;--quiet:#a3b0bc;--page:#12171c;--card:#1b2229;\
    --line:#3d4955;\
    --main:#7fd6cb;--on-main:#06201d;--note:#16302e;--bad:#ffb4ab;--bad-back:#3a1c1b}}
    *{box-sizing:border-box}
    body{margin:0;padding:min(1rem,4vw);min-height:100vh;display:flex;flex-direction:column;align-items:center;\
    justify-content:center;gap:1rem;background:var(--page);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
    main{width:100%;max-width:30rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem;\
    padding:min(2rem,7vw) min(1.75rem,6vw);overflow-wrap:anywhere}
    main>:last-child{margin-bottom:0}
    h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
    h2{font-size:1rem;margin:1.5rem 0 .25rem}
    p{margin:.25rem 0 .75rem}
    ul{margin:0 0 1rem;padding-left:1.25rem}
    li{margin:.25rem 0}
    a{color:var(--main)}
    small,footer,.quiet{color:var(--quiet);font-size:.875rem}
    footer{width:100%;max-width:30rem;text-align:center;overflow-wrap:anywhere}
    details{margin-top:1.5rem;color:var(--quiet);font-size:.875rem}
    summary{cursor:pointer;padding:.5rem 0}
    dl{margin:.5rem 0 0}
    dl div{display:flex;flex-wrap:wrap;gap:0 .75rem;margin:.25rem 0}
    dt{font-weight:600;min-width:6rem}
    dd{flex:1 1 12rem;min-width:0;margin:0}
    fieldset{border:0;padding:0;margin:1.5rem 0 0}
    legend{font-weight:600;padding:0;margin-bottom:.5rem}
    label{display:block;font-weight:600;margin:.75rem 0 .25rem}
    label.choice{display:flex;gap:.6rem;align-items:center;min-height:2.75rem;padding:.5rem .75rem;margin:.4rem 0;\
    font-weight:400;border:1px solid var(--line);border-radius:.4rem;cursor:pointer}
    input{width:100%;font:inherit;padding:.6rem .75rem;color:inherit;background:transparent;\
    border:1px solid var(--quiet);border-radius:.4rem}
    input[type=radio]{accent-color:var(--main);width:1.1rem;height:1.1rem;margin:0;flex:none}
    input.code{font:600 min(1.5rem,8.5vw)/1.4 ui-monospace,monospace;letter-spacing:.1em;text-align:center;\
    text-transform:uppercase;padding-inline:min(.75rem,2vw)}
    .note,.problem{border:1px solid transparent;border-radius:.4rem;padding:.6rem .75rem;margin:.75rem 0}
    .note{background:var(--note)}
    .problem{color:var(--bad);background:var(--bad-back)}
    .usercode{font:600 1.25rem/1.4 ui-monospace,monospace;letter-spacing:.1em}
    .buttons{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.5rem}
    button,a.button{font:inherit;font-weight:600;min-height:2.75rem;padding:.5rem 1.25rem;border-radius:.4rem;\
    cursor:pointer;border:1px solid var(--line);background:transparent;color:inherit;text-decoration:none;\
    display:inline-flex;align-items:center}
    button.main,a.button{border-color:var(--main);background:var(--main);color:var(--on-main)}
    button.account{display:block;width:100%;text-align:left;margin:.5rem 0}
    button.account small{display:block;font-weight:400}
    :focus-visible{outline:3px solid var(--main);outline-offset:2px}
    @media (forced-colors:active){button.main,a.button{border:3px solid ButtonText}}
    """
}
