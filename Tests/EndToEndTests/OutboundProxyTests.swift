// Behind a corporate proxy: provider and upstream are reached through it alone, and it learns only their addresses.

import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct OutboundProxyTests {
  let directory: TemporaryDirectory
  let authority: CertificateAuthority
  let certificate: CertificateAuthority.Certificate

  init() async throws {
    directory = try TemporaryDirectory()
    authority = try await CertificateAuthority(in: directory)
    certificate = try await authority.issue(
      "corp", for: ["DNS:login.corp.test", "DNS:orders.corp.test", "DNS:localhost", "IP:127.0.0.1"])
  }

  /// A configuration for provider and upstream, by whatever names they are reached.
  private func configuration(_ issuer: String, _ upstream: String, application: String = "", route: String = "")
    -> String
  {
    """
    defaults: {tls: {ca_file: "\(authority.file)"}}
    \(EndToEndTests.application(issuer, "tls: {ca_file: \"\(authority.file)\"}\n    \(application)"))
    routes:
      - name: orders
        path: /orders/
        upstream: \(upstream)/echo/
        application: contoso
        token: {as: application, scopes: [orders.read]}
        \(route)

    """
  }

  @Test func `HTTPS_PROXY leads to provider and upstream, whose names only the proxy knows`() async throws {
    let nginx = try await NginxUpstream(in: directory, certificate: certificate)
    let provider = try await OpenIDProvider(in: directory, https: certificate, name: "login.corp.test")
    let outbound = try await PythonPeer("connect_proxy.py", ["--credential", "agent:pa@ss/word"], in: directory)
    for secret in ["pa@ss/word", "pa%40ss%2Fword", "YWdlbnQ6cGFAc3Mvd29yZA=="] {
      ProxyLedger.current?.add(secret: secret)
    }
    let text = configuration(provider.issuer, "https://orders.corp.test:\(nginx.tlsPort)")
    let environment = ["HTTPS_PROXY": "http://agent:pa%40ss%2Fword@127.0.0.1:\(outbound.port)"]
    let proxy = try await ProxyUnderTest(in: directory, environment: environment, text)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    let answer = try await proxy.get("/orders/1")
    #expect(answer.status == 200 && answer.echoed("authorization")?.hasPrefix("Bearer ") == true, "\(answer)")
    // The proxy's credential is the proxy's alone.
    #expect(answer.echoed("proxy-authorization") == "")
    #expect(
      Set(outbound.requests) == [
        "CONNECT login.corp.test:\(provider.port) Basic YWdlbnQ6cGFAc3Mvd29yZA==",
        "CONNECT orders.corp.test:\(nginx.tlsPort) Basic YWdlbnQ6cGFAc3Mvd29yZA==",
      ])
    // Kept connections are used again.
    let count = outbound.requests.count
    for _ in 0..<5 { #expect(try await proxy.get("/orders/2").status == 200) }
    #expect(outbound.requests.count - count <= 2)
    let values = try await proxy.admin("/config").body
    #expect(
      values.contains("http://127.0.0.1:\(outbound.port)") && values.contains("environment HTTPS_PROXY"), "\(values)")

    // Excepted names are resolved here, and this one is unknown.
    let direct = try await ProxyUnderTest(
      environment: environment.merging(["NO_PROXY": ".corp.example,orders.corp.test"]) { $1 },
      text)
    #expect(try await eventually { try await direct.admin("/readyz").status == 200 })
    let refused = try await direct.get("/orders/3")
    #expect(refused.status == 502 && refused.body.contains("the name does not resolve"), "\(refused)")
  }

  @Test func `a proxy that we did not write lets provider and upstream be reached`() async throws {
    let nginx = try await NginxUpstream(in: directory, certificate: certificate)
    let provider = try await OpenIDProvider(in: directory, https: certificate)
    let port = try freePort()
    let file = try directory.write(
      """
      Port \(port)
      Listen 127.0.0.1
      Timeout 60
      LogFile "\(directory.file("tinyproxy.log"))"
      LogLevel Connect
      MaxClients 20
      Allow 127.0.0.1
      BasicAuth agent sesame-42

      """, to: "tinyproxy.conf")
    let tinyproxy = try ChildProcess("tinyproxy", ["tinyproxy", "-d", "-c", file], in: directory)
    try await waitForPort(port, of: tinyproxy)
    ProxyLedger.current?.add(secret: "sesame-42")
    let setting = "proxy: \"http://${LOGIN}@127.0.0.1:\(port)\""
    let proxy = try await ProxyUnderTest(
      in: directory, environment: ["LOGIN": "agent:sesame-42"],
      configuration(
        provider.issuer, "https://127.0.0.1:\(nginx.tlsPort)", application: setting, route: setting))
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    let answer = try await proxy.get("/orders/1")
    #expect(answer.status == 200 && answer.echoed("authorization")?.hasPrefix("Bearer ") == true, "\(answer)")
    #expect(try await eventually { directory.read("tinyproxy.log").contains("CONNECT 127.0.0.1:\(nginx.tlsPort)") })
    #expect(directory.read("tinyproxy.log").contains("CONNECT 127.0.0.1:\(provider.port)"))
    withExtendedLifetime(tinyproxy) {}
  }
}
