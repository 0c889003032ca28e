// The redirect URI of an application's sign-ins.

import Testing
import Tokens

@testable import Configuration

@Suite("Redirect URIs") struct RedirectURITests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// Authority and further keys of each application, named a, b, c….
    var applications: [(authority: String, more: String)]
    /// Whom each application's route is for: `person` or `itself`; nil has no route.
    var routes: [String?]
    var expected: [CallbackPath]
  }

  private static let entra = "https://login.microsoftonline.com"

  static let rows: [Row] = [
    Row(
      testDescription: "one", applications: [("https://id.example", "")], routes: ["person"], expected: [.shared]),
    Row(
      testDescription: "two of one issuer", applications: [("https://id.example", ""), ("https://id.example", "")],
      routes: ["person", "person"], expected: [.shared, .shared]),
    Row(
      testDescription: "two issuers", applications: [("https://id.example", ""), ("https://other.example", "")],
      routes: ["person", "person"], expected: [.own(application: "a"), .own(application: "b")]),
    Row(
      testDescription: "two realms of one host",
      applications: [("https://id.example/realms/x", ""), ("https://id.example/realms/y", "")],
      routes: ["person", "person"], expected: [.own(application: "a"), .own(application: "b")]),
    Row(
      testDescription: "two tenants of Entra", applications: [("\(entra)/contoso.com", ""), ("\(entra)/common", "")],
      routes: ["person", "person"], expected: [.shared, .shared]),
    Row(
      testDescription: "Entra and another", applications: [("\(entra)/contoso.com", ""), ("https://id.example", "")],
      routes: ["person", "person"], expected: [.own(application: "a"), .own(application: "b")]),
    Row(
      testDescription: "the other asks for itself alone",
      applications: [("\(entra)/contoso.com", ""), ("https://id.example", ", client_secret: s3cret")],
      routes: ["person", "itself"], expected: [.shared, .own(application: "b")]),
    Row(
      testDescription: "the other has no route",
      applications: [("https://id.example", ""), ("https://other.example", "")],
      routes: ["person", nil], expected: [.own(application: "a"), .own(application: "b")]),
    Row(
      testDescription: "one keeps its registration",
      applications: [("https://id.example", ", redirect_uri: shared"), ("https://other.example", "")],
      routes: ["person", "person"], expected: [.shared, .own(application: "b")]),
    Row(
      testDescription: "its own without need", applications: [("https://id.example", ", redirect_uri: own")],
      routes: ["person"], expected: [.own(application: "a")]),
  ]

  @Test(arguments: rows) func `an application has its own redirect URI if people sign in to several issuers`(
    row: Row
  ) throws {
    let names = ["a", "b", "c"]
    var text = "listeners: [{address: 127.0.0.1:1}]\napplications:\n"
    for (name, application) in zip(names, row.applications) {
      text += "  \(name): {authority: '\(application.authority)', client_id: \(name)\(application.more)}\n"
    }
    text += "routes:\n  - {name: open, path: /, upstream: 'https://api.example', token: none}\n"
    for (name, route) in zip(names, row.routes) {
      guard let route else { continue }
      text += "  - {name: \(name), path: /\(name)/, upstream: 'https://api.example', application: \(name), "
      text += "token: {\(route == "itself" ? "as: application, " : "")scopes: [s]}}\n"
    }
    #expect(try decoded(text).applications.map(\.callback) == row.expected)
  }

  @Test func `one path is below the other, and names are in them unchanged`() {
    #expect(CallbackPath.shared.path == "/.bearer/callback")
    #expect(CallbackPath.own(application: "a-b_c.d").path == "/.bearer/callback/a-b_c.d")
  }

  @Test(arguments: [".", ".."]) func `a name that would be a dot segment is none`(name: String) {
    let text =
      "listeners: [{address: 127.0.0.1:1}]\napplications: {'\(name)': {authority: 'https://i', client_id: c}}\n"
    #expect(throws: ConfigurationError.self) { try decoded(text) }
  }
}
