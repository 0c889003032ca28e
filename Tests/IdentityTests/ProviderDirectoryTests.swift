// Metadata: fetched once, kept for a day, kept longer where the provider is away.

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

  @Test func `a day later it is fetched again, and kept where that fails`() async throws {
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

  @Test func `what was fetched under one trust is not used under another`() async throws {
    let bench = Bench()
    let directory = ProviderDirectory(now: { [clock = bench.clock] in clock.now })
    var application = try bench.subscription().application
    _ = try await directory.metadata(for: application)
    application.trust = "/etc/ssl/corporate.pem"
    _ = try await directory.metadata(for: application)
    #expect(await bench.provider.metadataRequests == 2)
  }
}
