// Owns the page that a person gets instead of a problem document when they have to sign in: plain HTML without a script, whose style
// the content security policy names by its digest. What is interpolated is escaped.

internal import FoundationEssentials
internal import HTTP
internal import Identity
internal import Network
internal import Tokens

/// A page that says who has to sign in for what, and where.
struct InteractionPage {
  var title: String
  var interaction: InteractionRequired
  var route: String
  /// Where to sign in; nil where there is no such page.
  var signIn: String?
  var requestID: String

  private static let style = PageStyle.sheet

  /// The fields that keep the page to itself.
  static let fields: [(name: StaticString, value: String)] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; \(styleSource)frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"), ("Referrer-Policy", "no-referrer"),
  ]

  /// Without a digest there is no style, and the page is as readable as before.
  private static var styleSource: String {
    do throws(CryptoError) {
      return "style-src 'sha256-\(Data(try SHA256.digest(of: Array(style.utf8))).base64EncodedString())'; "
    } catch {
      return ""
    }
  }

  /// The page in UTF-8.
  var html: [UInt8] {
    let scopes: [Markup] = interaction.scopes.words.map { "<li><code>\($0)</code></li>\n" }
    let list: Markup = scopes.isEmpty ? "" : "<p>What it is for:</p>\n<ul>\n\(scopes)</ul>\n"
    let button: Markup = signIn.map { "<p><a class=\"button\" href=\"\($0)\">Sign in</a></p>\n" } ?? ""
    let request: Markup = requestID.isEmpty ? "" : ", request <code>\(requestID)</code>"
    let page: Markup = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(title)</title>
      <style>\(Markup(stringLiteral: Self.style))</style>
      </head>
      <body>
      <main>
      <h1>\(title)</h1>
      <p>\(interaction.words(route: route, canSignInHere: signIn != nil))</p>
      \(list)\(button)</main>
      <footer><p>Route <code>\(route)</code>\(request), reason <code>\(interaction.reason.rawValue)</code></p></footer>
      </body>
      </html>

      """
    return Array(page.text.utf8)
  }
}
