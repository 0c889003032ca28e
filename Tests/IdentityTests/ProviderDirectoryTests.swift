// Metadata: fetched once, kept for a day, kept longer if the provider is away.

import Bytes
import HTTPClient
import Testing
import Tokens

@testable import Identity

@Suite struct ProviderDirectoryTests {
  @Test func `callers at the same time share one fetch`() async throws {
    let bench = Bench()
    let directory = ProviderDirectory(now: { [clock = bench.clock] in clock.now })
    let application = try bench.subscription().application
    try await withThrowingTaskGroup(of: ProviderMetadata.self) { group in
      for _ in 0..<50 { group.addTask { try await directory.metadata(for: application) } }
      for try await metadata in group { #expect(metadata.issuer == ScriptedProvider.issuer) }
    }
    #expect(await bench.provider.metadataRequests == 1)
  }

  @Test func `a day later it is fetched again, and kept if that fails`() async throws {
    let bench = Bench()
    let directory = ProviderDirectory(now: { [clock = bench.clock] in clock.now })
    let application = try bench.subscription().application
    _ = try await directory.metadata(for: application)
    bench.clock.advance(ProviderDirectory.lifetime - 1)
    _ = try await directory.metadata(for: application)
    #expect(await bench.provider.metadataRequests == 1)
    bench.clock.advance(1)
    await bench.provider.script(metadata: [.failure(.timedOut(host: "id.example"))])
    _ = try await directory.metadata(for: application)
    #expect(await bench.provider.metadataRequests == 2)
    _ = try await directory.metadata(for: application)
    #expect(await bench.provider.metadataRequests == 3)
    _ = try await directory.metadata(for: application)
    #expect(await bench.provider.metadataRequests == 3)
  }

  @Test func `a pause that the provider asks for applies to all who need its metadata`() async throws {
    let bench = Bench()
    let directory = ProviderDirectory(now: { [clock = bench.clock] in clock.now })
    let application = try bench.subscription().application
    await bench.provider.script(metadata: [.json(503, "", retryAfter: "30")])
    for rest in [30, 20, 1, 1] as [Int64] {
      await #expect(throws: AcquisitionError(.metadata(status: 503), retryAfter: rest)) {
        try await directory.metadata(for: application)
      }
      #expect(await bench.provider.metadataRequests == 1)
      bench.clock.advance(rest == 30 ? 10 : rest == 20 ? 19 : 1)
    }
    _ = try await directory.metadata(for: application)
    #expect(await bench.provider.metadataRequests == 2)
  }

  // RFC 8414: a server that has OAuth's metadata alone answers 404 for OpenID's.
  @Test func `OAuth's metadata are tried after OpenID's, and the first failure is told`()
    async throws
  {
    let bench = Bench()
    let application = try bench.subscription().application
    let missing = ScriptedProvider.Answer.json(404, "{}")
    await bench.provider.script(metadata: [missing])
    let directory = ProviderDirectory(now: { [clock = bench.clock] in clock.now })
    #expect(try await directory.metadata(for: application).issuer == ScriptedProvider.issuer)
    #expect(await bench.provider.metadataRequests == 2)
    for second in [ScriptedProvider.Answer.json(500, ""), missing, .failure(.timedOut(host: "id.example"))] {
      await bench.provider.script(metadata: [missing, second])
      let other = ProviderDirectory(now: { [clock = bench.clock] in clock.now })
      await #expect(throws: AcquisitionError(.metadata(status: 404))) {
        try await other.metadata(for: application)
      }
    }
  }

  @Test func `metadata fetched with one trust store is not used with another`() async throws {
    let bench = Bench()
    let directory = ProviderDirectory(now: { [clock = bench.clock] in clock.now })
    var application = try bench.subscription().application
    _ = try await directory.metadata(for: application)
    application.trust = "/etc/ssl/corporate.pem"
    _ = try await directory.metadata(for: application)
    #expect(await bench.provider.metadataRequests == 2)
  }
}
