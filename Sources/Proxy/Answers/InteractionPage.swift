internal import HTTPServer
internal import Identity
internal import Tokens

/// The page that a person gets in the place of a problem document: who has to sign in for what, and where.
struct InteractionPage {
  var title: String
  var interaction: InteractionRequired
  var route: String
  /// Where to sign in; nil where there is no such page.
  var signIn: String?
  var requestID: String

  /// The page.
  var page: Page {
    let scopes: [Markup] = interaction.scopes.words.map { "<li><code>\($0)</code></li>\n" }
    let list: Markup = scopes.isEmpty ? "" : "<p>What it is for:</p>\n<ul>\n\(scopes)</ul>\n"
    let button: Markup = signIn.map { "<p><a class=\"button\" href=\"\($0)\">Sign in</a></p>\n" } ?? ""
    let request: Markup = requestID.isEmpty ? "" : ", request <code>\(requestID)</code>"
    var page = Page(
      title: title,
      content: """
        <h1>\(title)</h1>
        <p>\(interaction.words(route: route, canSignInHere: signIn != nil))</p>
        \(list)\(button)
        """)
    page.footer = """
      <p>Route <code>\(route)</code>\(request), reason <code>\(interaction.reason.rawValue)</code></p>
      """
    return page
  }
}
