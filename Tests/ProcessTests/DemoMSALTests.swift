// The provider before its sternest judge: the real msal package signs in with it, in Python.

import DemoProvider
import TestSupport
import Testing

@Suite("msal against the demonstration's provider", .timeLimit(.minutes(5)))
struct MSALTests {
  @Test func `msal signs in by device code and authorization code, and acquires silently`() async throws {
    let directory = try TemporaryDirectory()
    let settings = DemoSettings(directory: directory.path)
    let services = try DemoServices(settings)
    let result = try await run(
      peer(
        "msal_client.py",
        ["--ca", settings.authorityPath, "--origin", services.providerOrigin, "--api", services.apiOrigin]),
      within: .seconds(90))
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("ok: still one account"))
    #expect(result.output.contains("ok: and of every refresh after it"))
  }
}
