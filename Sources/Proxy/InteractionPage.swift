// Owns the page that a person gets instead of a problem document when they have to sign in: plain HTML without a script, whose style
// the content security policy names by its digest. What is interpolated is escaped.

internal import FoundationEssentials
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
    let name = Self.escaped(route)
    var text = """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <title>\(Self.escaped(title))</title>
      <style>\(Self.style)</style>
      </head>
      <body>
      <main>
      <h1>\(Self.escaped(title))</h1>
      <p>\(Self.escaped(interaction.words(route: route, canSignInHere: signIn != nil)))</p>

      """
    if !interaction.scopes.isEmpty {
      let items = interaction.scopes.words.map { "<li><code>\(Self.escaped($0))</code></li>" }.joined(separator: "\n")
      text += "<p>What it is for:</p>\n<ul>\n\(items)\n</ul>\n"
    }
    if let signIn {
      text += "<p><a class=\"button\" href=\"\(Self.escaped(signIn))\">Sign in</a></p>\n"
    }
    text += "</main>\n<footer><p>Route <code>\(name)</code>"
    if !requestID.isEmpty { text += ", request <code>\(Self.escaped(requestID))</code>" }
    text += ", reason <code>\(interaction.reason.rawValue)</code></p></footer>\n</body>\n</html>\n"
    return Array(text.utf8)
  }

  private static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }
}
