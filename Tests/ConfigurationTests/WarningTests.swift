// The warnings of `check`.

import Testing

@testable import Configuration

@Suite struct `Configuration warnings` {
  private static let person = "token: {account: ann@x.example, scopes: [Mail.Read]}"
  private static let signIn =
    "3:10: warning: route 'mail' needs a person, and no one can sign in: set 'cache: {file: PATH}' for 'bearer-proxy "
    + "login', or 'sign_in: true' on a listener for sign-in pages"

  private static let placeholder =
    "2:64: warning: applications.a.client_id is a placeholder: write the id under which the application is registered "
    + "with its provider"
  private static let own = "token: {as: application, scopes: [a/.default]}"

  /// The last line of a file, its application, its route's token and upstream, and the warnings.
  typealias Row = (head: String, application: String, route: String, expected: [String])

  static let cases: [Row] = [
    ("", "client_id: orders-proxy", "upstream: 'https://a.example/', \(person)", [signIn]),
    ("cache: {file: c.json}", "client_id: orders-proxy", "upstream: 'https://a.example/', \(person)", []),
    ("", "client_id: a, client_secret: s3cret", "upstream: 'https://a.example/', \(own)", []),
    (
      "", "client_id: CLIENT_ID, client_secret: s3cret", "upstream: 'https://a.example:80/', \(own)",
      [placeholder, "3:42: warning: routes[0].upstream: TLS at port 80, where a server usually expects http:"]
    ),
    (
      "", "client_id: 11111111-1111-1111-1111-111111111111", "upstream: 'http://a.example:443/', token: none",
      [placeholder, "3:42: warning: routes[0].upstream: plain HTTP at port 443, where a server usually expects https:"]
    ),
    tenant("TENANT", isPlaceholder: true), tenant("contoso.example", isPlaceholder: false),
    tenant("00000000-0000-0000-0000-000000000000", isPlaceholder: true),
  ]

  private static func tenant(_ name: String, isPlaceholder: Bool) -> Row {
    let warning = "2:31: warning: applications.a.authority contains a placeholder: write your tenant's id or domain"
    return (
      "", "authority: 'https://login.microsoftonline.com/\(name)', client_id: a, client_secret: s3cret",
      "upstream: 'https://a.example/', \(own)", isPlaceholder ? [warning] : []
    )
  }

  @Test(arguments: cases)
  func `unlikely settings cause warnings`(head: String, application: String, route: String, expected: [String]) throws {
    let isNone = route.hasSuffix("none")
    let authority = application.hasPrefix("authority") ? "" : "authority: \"https://id.example\", "
    let text = """
      listeners: [{address: "127.0.0.1:0"}]
      applications: {a: {\(authority)\(application)}}
      routes: [{name: mail, path: /, \(route)\(isNone ? "" : ", application: a")}]
      \(head)
      """
    let settings = try Settings.decode(yaml: Array(text.utf8), file: "f", environment: [:])
    #expect(settings.warnings.map { String($0.warning.dropFirst(2)) } == expected)
  }

  @Test func `people read a display name, which is short and on one line`() throws {
    func settings(_ name: String) throws -> Settings {
      let text = """
        listeners: [{address: "127.0.0.1:0"}]
        applications:
          a: {authority: "https://id.example", client_id: a, client_secret: s3cret, display_name: Orders desk}
        routes: [{name: a, path: /, upstream: "https://a.example", token: none, display_name: "\(name)"}]
        """
      return try Settings.decode(yaml: Array(text.utf8), file: "f", environment: [:])
    }
    let right = try settings("Your orders")
    #expect(right.routes[0].displayName == "Your orders" && right.applications[0].displayName == "Orders desk")
    for wrong in [String(repeating: "x", count: 81), "two\\nlines", "\\u202Ebackwards"] {
      #expect(throws: ConfigurationError.self) { try settings(wrong) }
    }
  }
}
