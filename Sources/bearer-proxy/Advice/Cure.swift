// The cures that `check`, `login`, `token` and the log share. deploy/troubleshooting.md has each, word for word.

protocol Cure: CaseIterable {
  /// Sentences. Words between backticks are typed or written as they are.
  func text(_ parts: CureParts) -> String
}

extension Cure {
  /// The sentences for a terminal or the log, which have no backticks.
  func words(_ parts: CureParts = CureParts()) -> String { text(parts).replacing("`", with: "'") }

  /// The sentences for the page, which knows no configuration.
  var page: String { text(CureParts()) }
}

/// The parts of cures that vary. The defaults are for the page.
struct CureParts {
  var application = "the application"
  /// The application that is the blueprint of an agent.
  var blueprint = "the application"
  var configuration = "the configuration"
  var authority = "the authority"
  var clientID = "ID"
  var redirectURI = "that the message names"
  /// Empty if the application has that redirect URI.
  var otherRedirectURI = ", or `redirect_uri: shared` if it knows http://localhost"
  var thumbprint = "THUMBPRINT"
  /// A file that has a proof of the application, and a program that prints one.
  var file = "the file"
  var program = "PROGRAM"
  /// Variables of a managed identity, as an end of a question.
  var leftovers = ""
  /// The other side of a TLS connection, the setting of its address, and the one of its authorities.
  var peer = "server"
  var address = "the configuration"
  var trust = "`tls: {ca_file: …}`"
  /// The file that `trust` names.
  var trustFile = "CA_FILE"
  var reason = "the message says which right is missing"
}
