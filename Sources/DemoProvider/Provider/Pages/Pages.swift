// Owns pages as answers: their frame and the fields that keep browsers from doing more with them than showing them.

internal import FoundationEssentials
internal import HTTP
internal import Network

/// What a page that only tells something tells.
struct PageMessage {
  var heading: String
  var text: String
  /// A few technical words below.
  var detail: String?
}

/// Makes pages.
struct Pages: Sendable {
  private let styleDigest: String
  private let scriptDigest: String

  init() throws(CryptoError) {
    styleDigest = try Self.digest(PageStyle.sheet)
    scriptDigest = try Self.digest(PageStyle.script)
  }

  private static func digest(_ text: String) throws(CryptoError) -> String {
    "'sha256-\(Data(try SHA256.digest(of: Array(text.utf8))).base64EncodedString())'"
  }

  /// A page without a form.
  func message(_ message: PageMessage, status: Int) -> DemoAnswer {
    let detail: Markup = message.detail.map { "<p class=\"quiet\">\($0)</p>" } ?? ""
    return page(
      message.heading, "<h1>\(message.heading)</h1>\n<p role=\"status\">\(message.text)</p>\n\(detail)", status: status)
  }

  /// A page whose body is `content`. `formAction` lists where its forms may lead, redirects included: browsers check those
  /// too.
  func page(
    _ title: String, _ content: Markup, footer: String? = nil, status: Int = 200, formAction: String = "'none'",
    hasScript: Bool = false
  ) -> DemoAnswer {
    let hint: Markup = footer.map { "<footer>\($0)</footer>\n" } ?? ""
    // Named, as text that is HTML already: its digest would not survive escaping.
    let style = Markup(stringLiteral: PageStyle.sheet)
    let script = Markup(stringLiteral: hasScript ? "<script>\(PageStyle.script)</script>\n" : "")
    let markup: Markup = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <title>\(title) · demonstration provider</title>
      <meta name="viewport" content="width=device-width,initial-scale=1">
      <link rel="icon" href="data:,">
      <style>\(style)</style>
      </head>
      <body>
      <main>
      \(content)
      </main>
      \(hint)\(script)</body>
      </html>

      """
    let policy = [
      "default-src 'none'", "style-src \(styleDigest)", "img-src data:", "base-uri 'none'", "frame-ancestors 'none'",
      "form-action \(formAction)", hasScript ? "script-src \(scriptDigest)" : nil,
    ]
    var answer = DemoAnswer(status: status, html: markup.text)
    // `same-origin`, not `no-referrer`: with that one, browsers would hide the origin of our own forms from us.
    answer.fields += [
      ("content-security-policy", policy.compactMap(\.self).joined(separator: "; ")), ("x-frame-options", "DENY"),
      ("x-content-type-options", "nosniff"), ("referrer-policy", "same-origin"), ("cache-control", "no-store"),
      ("cross-origin-opener-policy", "same-origin"),
    ]
    return answer
  }
}
