// The table of cures.

import Testing

@testable import Telemetry

@Suite struct CureTests {
  static let cures = Set(Cure.allCases.map { $0.rawValue[...] })
  static let parts = Set(Cure.Part.allCases.map { $0.rawValue[...] })

  /// The names between braces in a row. Others than names are the configuration's own braces.
  private static func named(in text: Substring) -> [Substring] {
    text.split(separator: "{").filter { $0.contains("}") }.map { $0.prefix { $0 != "}" } }
      .filter { $0.allSatisfy(\.isLetter) }
  }

  @Test func `each cure and each part has a row, and every other row is part of one`() {
    let shared = Set(Cure.rows.values.flatMap { Self.named(in: $0[...]) })
    #expect(Set(Cure.rows.keys.map { $0[...] }) == Self.cures.union(Self.parts).union(shared))
    #expect(Self.parts.isSubset(of: shared) && Self.parts.isDisjoint(with: Self.cures))
  }

  @Test(arguments: Cure.allCases) func `a cure is whole, and a terminal shows no backticks`(cure: Cure) {
    let text = cure.text()
    #expect(!text.isEmpty && !text.contains("  ") && Self.named(in: text[...]).isEmpty)
    #expect(text.count { $0 == "`" }.isMultiple(of: 2) && !cure.words().contains("`"))
  }

  static let rows: [(Cure, [Cure.Part: String], text: String)] = [
    (.providerFirewall, [.file: "not asked for"], "Is a firewall between this machine and the provider?"),
    (.providerHTTPS, [:], "The provider speaks TLS at that port: write https: in `authority` of the application."),
    (
      .providerHTTPS, [.application: "application '{file}'"],
      "The provider speaks TLS at that port: write https: in `authority` of application '{file}'."
    ),
    (
      .tlsUpstream, [.address: "`upstream`", .trust: "`tls: {ca_file: …}` of the route"],
      "Is there a TLS server at the address in `upstream`? If so, name the authority that issued its certificate in "
        + "`tls: {ca_file: …}` of the route, or the certificate's name in `server_name`."
    ),
    (
      .answerCache, [:],
      "The operator has to set `cache: {file: PATH}` and restart, then sign in with `bearer-proxy login`."
    ),
  ]

  @Test(arguments: rows) func `parts and shared sentences take their places`(
    cure: Cure, parts: [Cure.Part: String], text: String
  ) {
    #expect(cure.text(parts) == text)
    #expect(cure.words(parts) == text.replacing("`", with: "'"))
  }
}
