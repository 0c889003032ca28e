// The readiness of an instance: by choice, once and for all, and the programs that wait for it.

import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct ReadinessTests {
  private func proxy(_ directory: TemporaryDirectory, top: String, issuer: String, upstream: Int) async throws
    -> ProxyUnderTest
  {
    try await ProxyUnderTest(
      in: directory, "\(top)\n" + application(issuer) + "routes:\n" + route("orders", to: upstream))
  }

  @Test func `ready_when: started waits for no token and names the missing ones`() async throws {
    let directory = try TemporaryDirectory()
    let nobody = "http://127.0.0.1:\(try freePort())"
    let proxy = try await proxy(directory, top: "ready_when: started", issuer: nobody, upstream: 1)
    #expect(try await proxy.admin("/readyz").status == 200)
    #expect(
      try await eventually {
        try await proxy.admin("/readyz").body.hasPrefix(
          "ready\n- application contoso, scopes orders.read: identity-provider-unavailable")
      })
    #expect(try await proxy.command(["status", "--wait=5"]).status == 0)
  }

  @Test func `ready_when: tokens waits for the tokens once, and stays ready afterwards`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let provider = try await OpenIDProvider(in: directory, ["--expires-in", "3"])
    try await provider.behave(#"{"status": 503, "endpoint": "token"}"#)
    let proxy = try await proxy(
      directory, top: "ready_when: tokens", issuer: provider.issuer, upstream: upstream.port)
    #expect(try await eventually { try await proxy.admin("/readyz").body.contains("identity-provider-unavailable") })
    #expect(try await proxy.admin("/readyz").status == 503)
    #expect(try await proxy.command(["status", "--wait=1"]).status == 1)
    async let gate = proxy.command(["status", "--wait=30"])
    try await provider.behave("{}")
    #expect(try await gate.status == 0)
    #expect(try await proxy.admin("/readyz").status == 200)
    try await provider.behave(#"{"status": 503, "endpoint": "token"}"#)
    #expect(try await eventually { try await proxy.get("/orders/seen").status == 503 })
    #expect(try await proxy.admin("/readyz").status == 200)
    try proxy.reconfigure { $0 + route("more", to: upstream.port, scopes: "more.read") }
    #expect(try await eventually { try await proxy.admin("/readyz").body.contains("more.read") })
    #expect(try await proxy.admin("/readyz").status == 200)
  }
}
