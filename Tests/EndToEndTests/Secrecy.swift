// After every test of this folder: nothing that a proxy wrote or answered in its own name shows a secret or a token.

import Testing
import TestSupport

/// Searches both output streams, metrics, readiness, problem documents and arguments of every proxy of a test.
struct Secrecy: TestTrait, SuiteTrait, TestScoping {
  var isRecursive: Bool { true }

  func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    let ledger = ProxyLedger(secrets: [OpenIDProvider.secret])
    try await ProxyLedger.$current.withValue(ledger) { try await function() }
    for finding in try await ledger.findings() { Issue.record("\(finding)") }
  }
}

extension Trait where Self == Secrecy {
  /// Holds every test of the suite to keeping secrets.
  static var keepsSecrets: Self { Self() }
}

@Suite struct SecrecyTests {
  /// Without this row, a search that finds nothing would prove nothing.
  @Test(arguments: [
    ("plain", true), ("s3cret%2Bwith%2Fodd%3Dcharacters%26more", true), ("Bearer eyJ0eXAi", true),
    ("-----BEGIN PRIVATE KEY-----", true), ("planted", true), ("nothing of the kind", false),
  ])
  func `a secret is found in every spelling`(_ row: (String, Bool)) async throws {
    let ledger = ProxyLedger(secrets: [OpenIDProvider.secret])
    ledger.add(secret: "planted")
    ledger.add(row.0 == "plain" ? "so it is \(OpenIDProvider.secret), see?" : row.0, from: "a row")
    #expect(try await ledger.findings().count == (row.1 ? 1 : 0))
  }

  @Test func `everything that a running proxy writes and answers is searched`() async throws {
    let ledger = ProxyLedger(secrets: [])
    try await ProxyLedger.$current.withValue(ledger) {
      let scene = try await ScriptedScene()
      ledger.add(secret: "seen-nowhere")
      ledger.add(secret: #"route":"all"#)
      ledger.add(secret: "bearer_proxy_build_info")
      ledger.add(secret: scene.proxy.configuration)
      _ = try await scene.proxy.get("/bytes/1?query=seen-nowhere")
      _ = try await scene.proxy.get("/hang-up")
      #expect(try await eventually { scene.proxy.accessRecords.count == 2 })
    }
    let findings = try await ledger.findings()
    // The configuration's path, a secret here, is in the arguments, in the first log record and wherever a value's
    // source is shown.
    let places = [
      "the arguments of", "/metrics of", "standard output of", "standard error of", "the problem document",
      "/status?format=json of", "/config of", "/config?format=json of",
    ]
    for place in places { #expect(findings.contains { $0.hasPrefix(place) }, "\(findings)") }
    #expect(findings.count == places.count, "\(findings)")
  }
}
