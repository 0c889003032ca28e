internal import HTTPServer
internal import Identity
internal import Telemetry
internal import Tokens

/// The page for a person in place of a problem document: the account to sign in with, the route, and the address.
struct InteractionPage {
  var title: String
  var interaction: InteractionRequired
  var route: String
  /// The route's name for people; by default its name.
  var displayName: String?
  /// The address to sign in; nil if there is no such page.
  var signIn: String?
  var requestID: String
  var commands: OperatorCommands

  var page: Page {
    let scopes: [Markup] = interaction.scopes.words.map { "<li><code>\($0)</code></li>\n" }
    let list: Markup = scopes.isEmpty ? "" : "<p>It is for:</p>\n<ul>\n\(scopes)</ul>\n"
    let button: Markup = signIn.map { "<p><a class=\"button\" href=\"\($0)\">Sign in</a></p>\n" } ?? ""
    let name = displayName ?? route
    let unusable: Markup = name.isEmpty ? "" : "\(name) cannot be used yet. "
    return Page(
      title,
      """
      <p>\(unusable)\(interaction.words(route: route, link: signIn, commands))</p>
      \(button)\(Page.details(facts, list))
      """)
  }

  private var facts: [(name: String, text: String)] {
    [("Route", route), ("Reason", interaction.reason.rawValue), ("Request", requestID)]
  }
}

/// The page for a person in place of any other problem document.
struct ProblemPage {
  var problem: ProblemDocument
  var route: String
  var requestID: String

  var page: Page {
    let facts = [
      (name: "Problem", text: problem.type.rawValue), ("Status", "\(problem.status)"), ("Route", route),
      ("Request", requestID),
    ]
    return Page(
      problem.title,
      """
      <p role="alert">\(problem.detail)</p>
      \(Page.details(facts))
      """)
  }
}
