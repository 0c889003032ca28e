// Clients and servers of the Model Context Protocol, with OAuth of their own and without, on either side of the proxy;
// Authlib is the provider. No party but the proxy is ours.

import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(10)))
struct MCPTests {
  private static let password = "kettle-harbour-7"
  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Authlib, with a public client `tool`, a confidential one, and a person; tokens are for one of the resources.
  private func provider(resources: [String]) async throws -> OpenIDProvider {
    try await OpenIDProvider(
      in: directory,
      [
        "--client", "tool:", "--signs-in", OpenIDProvider.client, "--person", "ann:\(Self.password)", "--scope",
        "mcp.use", "--scope", "mcp.admin",
      ] + resources.flatMap { ["--resource", $0] })
  }

  // MARK: The recipes

  @Test func `mcp: a person and an application, for clients that know no OAuth`() async throws {
    let serverPort = try freePort()
    let resource = "http://127.0.0.1:\(serverPort)/mcp"
    let provider = try await OpenIDProvider(
      in: directory,
      [
        "--client", "desk:", "--person", "ann:\(Self.password)", "--scope", "mcp.use", "--scope", "mcp.admin",
        "--resource", resource,
      ])
    let server = try await MCPServer(
      .mcp, in: directory, port: serverPort, issuer: provider.issuer, scopes: ["mcp.use"])
    let text = try recipe(
      "mcp",
      [
        ("https://id.example/realms/main", provider.issuer), ("https://mcp.example/mcp", resource),
        ("/var/lib/bearer-proxy/", directory.path + "/"),
      ])
    let environment = ["SERVICE_SECRET": OpenIDProvider.secret]
    let proxy = try await ProxyUnderTest(in: directory, environment: environment, text)
    #expect(try await mcpClient(.mcp, proxy.url("/jobs")).isComplete)
    let login = try Login(proxy.configuration, ["--route", "tools"], environment: environment)
    try await SigningInPerson(user: "ann", password: Self.password).authorize(try await login.address())
    #expect(try await login.result().status == 0)
    #expect(try await eventually { try await mcpClient(.fastmcp, proxy.url("/tools")).isComplete })
    #expect(Set(server.requests.map(\.subject)).count == 2)
  }

  @Test func `mcp-server: a client that knows OAuth, and a server that does not`() async throws {
    let port = try freePort()
    let url = "http://127.0.0.1:\(port)/tools"
    let provider = try await provider(resources: [url])
    let server = try await MCPServer(.fastmcp, in: directory)
    let text = try recipe(
      "mcp-server",
      [
        ("https://id.example/realms/main", provider.issuer), ("http://127.0.0.1:9000/mcp", server.resource),
      ])
    let proxy = try await ProxyUnderTest(in: directory, port: port, text)
    let report = try await mcpClient(.mcp, url, Self.person)
    #expect(report.isComplete && report.signIns.count == 1, "\(report)")
    withExtendedLifetime(proxy) {}
  }

  // MARK: A server that knows no OAuth, behind callers.bearer

  /// A provider, a server, and a proxy between that demands tokens for itself, or for another audience.
  private func guarded(
    _ library: MCPLibrary = .mcp, audience: String? = nil, scopes: String = "mcp.use"
  ) async throws -> (provider: OpenIDProvider, server: MCPServer, proxy: ProxyUnderTest, url: String) {
    let port = try freePort()
    let url = "http://127.0.0.1:\(port)/tools"
    let (provider, server) = (try await provider(resources: [url]), try await MCPServer(library, in: directory))
    let proxy = try await ProxyUnderTest(
      in: directory, port: port,
      """
      listeners:
        - address: "127.0.0.1:\(port)"
          callers:
            bearer: {authority: "\(provider.issuer)", audiences: ["\(audience ?? url)"], scopes: [\(scopes)],
              public_url: "http://127.0.0.1:\(port)"}
      routes:
        - {name: tools, path: /tools/, upstream: "\(server.resource)/", token: none}
      """)
    return (provider, server, proxy, url)
  }

  private static let person = ["--client", "tool", "--person", "ann:\(password)"]

  @Test(arguments: zip(MCPLibrary.allCases, MCPLibrary.allCases.reversed()))
  func `a client with OAuth of its own finds the provider by our metadata, and signs in once`(
    client: MCPLibrary, library: MCPLibrary
  ) async throws {
    let stage = try await guarded(library)
    let report = try await mcpClient(client, stage.url, Self.person)
    #expect(report.isComplete, "\(report)")
    #expect(report.signIns.map(\.scope) == ["mcp.use"] && report.signIns.map(\.resource) == [stage.url])
    // The token stays here.
    #expect(stage.server.requests.allSatisfy { $0.token == "-" } && !stage.server.requests.isEmpty)
  }

  @Test func `a client whose token lacks a scope is stepped up once`() async throws {
    let stage = try await guarded(scopes: "mcp.use, mcp.admin")
    let report = try await mcpClient(
      .mcp, stage.url, Self.person + ["--held", "mcp.use", "--issuer", stage.provider.issuer])
    #expect(report.isComplete, "\(report)")
    #expect(report.signIns.count == 1)
    #expect(Set((report.signIns.first?.scope ?? "").split(separator: " ")) == ["mcp.use", "mcp.admin"])
  }

  @Test(arguments: MCPLibrary.allCases)
  func `a client whose tokens are refused whatever it does gives up, and does not loop`(
    client: MCPLibrary
  ) async throws {
    let stage = try await guarded(audience: "https://elsewhere.example")
    let report = try await mcpClient(client, stage.url, Self.person)
    #expect(report.error != nil && report.sum == nil)
    #expect((1...2).contains(report.signIns.count), "\(report)")
    #expect(stage.server.requests.isEmpty)
  }

  @Test func `a client's next token in the middle of a session goes on with it, and an open stream is not cut`()
    async throws
  {
    let stage = try await guarded()
    async let running = mcpClient(.mcp, stage.url, Self.person + ["--waits", directory.file("go-on")])
    #expect(try await eventually { stage.server.process.output.contains("waiting") })
    // From here on the client's token is not enough, and the stream is open.
    try stage.proxy.reconfigure { $0.replacing("scopes: [mcp.use]", with: "scopes: [mcp.use, mcp.admin]") }
    #expect(
      try await eventually {
        try await stage.proxy.get("/.well-known/oauth-protected-resource/tools").body.contains("mcp.admin")
      })
    #expect(!stage.server.process.output.contains("waited"))
    _ = try directory.write("", to: "go-on")
    let report = try await running
    #expect(report.isComplete, "\(report)\n\(stage.proxy.process.errors)")
    let scopes = report.signIns.map { Set(($0.scope ?? "").split(separator: " ").map(String.init)) }
    #expect(scopes == [["mcp.use"], ["mcp.use", "mcp.admin"]])
    #expect(Set(stage.server.requests.map(\.session)).subtracting(["-"]).count == 1)
    #expect(stage.server.requests.allSatisfy { $0.token == "-" })
  }

  // MARK: A server that demands tokens, and a client that knows no OAuth

  private func adding(
    _ token: String, to server: MCPServer, _ issuer: String
  ) async throws -> ProxyUnderTest {
    // In a directory of its own: another proxy of the test would read its file, too.
    try await ProxyUnderTest(
      application(issuer) + """
        cache: {file: "\(directory.file("cache.json"))"}
        routes:
          - {name: tools, path: /tools/, upstream: "\(server.resource)/", application: contoso,
             token: {\(token), resource: "\(server.resource)/"}}

        """)
  }

  /// The provider and the server, each of which has to know the other.
  private func protected(
    _ library: MCPLibrary, scopes: [String]
  ) async throws -> (OpenIDProvider, MCPServer) {
    // The server fetches the provider's keys when it starts, and the provider lists the server's name.
    let port = try freePort()
    let provider = try await provider(resources: ["http://127.0.0.1:\(port)/mcp"])
    return (
      provider,
      try await MCPServer(library, in: directory, port: port, issuer: provider.issuer, scopes: scopes)
    )
  }

  @Test(arguments: MCPLibrary.allCases)
  func `a client without OAuth works against a protected server, as an application and as a person`(
    library: MCPLibrary
  ) async throws {
    let (provider, server) = try await protected(library, scopes: ["mcp.use"])
    #expect(try await mcpClient(library, server.resource).error != nil, "the server takes everybody")
    let proxy = try await adding("as: application, scopes: [mcp.use]", to: server, provider.issuer)
    for client in MCPLibrary.allCases {
      let report = try await mcpClient(client, proxy.url("/tools"))
      #expect(report.isComplete, "\(report)\n\(proxy.process.errors)")
    }
    #expect(server.requests.last?.subject == OpenIDProvider.client)
    let personal = try await adding("as: account, scopes: [mcp.use]", to: server, provider.issuer)
    let login = try Login(personal.configuration, ["--route", "tools"])
    try await succeed(
      peer(
        "peer_person.py",
        ["authlib", "--user", "ann", "--password", Self.password, "authorize", try await login.address()]))
    #expect(try await login.result().status == 0)
    #expect(
      try await eventually {
        try await mcpClient(library, personal.url("/tools")).isComplete
      })
    #expect(server.requests.last.map { $0.subject != OpenIDProvider.client && $0.subject != "-" } == true)
  }

  /// The stream goes on after the file is there, and that is after the server has seen the next token.
  @Test func `a new token in the middle of a session and of an open stream disturbs neither`() async throws {
    let (provider, server) = try await protected(.mcp, scopes: ["mcp.use"])
    let proxy = try await adding("as: application, scopes: [mcp.use]", to: server, provider.issuer)
    let file = directory.file("go-on")
    async let running = mcpClient(.mcp, proxy.url("/tools"), ["--waits", file])
    // Initialization, its notification, the first call, and the stream: one session, which the client keeps open.
    #expect(try await eventually { server.requests.count { $0.method == "POST" && $0.token != "-" } >= 4 })
    #expect(try await eventually { server.process.output.contains("waiting") })
    let first = server.requests.map(\.token).filter { $0 != "-" }
    try proxy.reconfigure { $0.replacing("scopes: [mcp.use]", with: "scopes: [mcp.use, mcp.admin]") }
    #expect(
      try await eventually {
        _ = try await proxy.get("/tools", ["-X", "POST"])
        return server.requests.contains { $0.token != "-" && !first.contains($0.token) }
      })
    #expect(!server.process.output.contains("waited"))
    _ = try directory.write("", to: "go-on")
    let report = try await running
    #expect(report.isComplete, "\(report)\n\(proxy.process.errors)")
    #expect(server.process.output.contains("waited"))
    let sessions = server.requests.filter { $0.session != "-" && $0.method == "POST" }
    #expect(Set(sessions.map(\.session)).count == 1)
    #expect(sessions.last.map { !first.contains($0.token) } == true, "\(sessions)")
  }

  @Test(arguments: MCPLibrary.allCases)
  func `a demand for claims before the first byte of an answer brings another token, and the client sees none of it`(
    library: MCPLibrary
  ) async throws {
    let api = try DemandingAPI()
    let server = try await MCPServer(library, in: directory, demands: "before")
    let proxy = try await adding("as: application, scopes: [mcp.use]", to: server, api.issuer)
    let report = try await mcpClient(library, proxy.url("/tools"))
    #expect(report.isComplete, "\(report)\n\(proxy.process.errors)")
    #expect(api.asked == ["", "alpha"])
  }

  @Test(arguments: MCPLibrary.allCases)
  func `a demand for claims within a stream of events is the client's, and nothing is sent again`(
    library: MCPLibrary
  ) async throws {
    let api = try DemandingAPI()
    var requests: [Int] = []
    for demands in [nil, "within"] {
      let server = try await MCPServer(library, in: directory, demands: demands)
      // Both servers of the directory write one file.
      let before = server.requests.count { $0.method == "POST" }
      let proxy = try await adding("as: application, scopes: [mcp.use]", to: server, api.issuer)
      let report = try await mcpClient(library, proxy.url("/tools"))
      #expect(report.isComplete, "\(report)\n\(proxy.process.errors)")
      requests.append(server.requests.count { $0.method == "POST" } - before)
      if demands == nil { continue }
      // As curl sees it: the first bytes, the demand, and the rest.
      let hello =
        #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#
        + #""capabilities":{},"clientInfo":{"name":"curl","version":"1"}}}"#
      let answer = try await proxy.get(
        "/tools",
        [
          "-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream", "-d", hello,
        ])
      #expect(answer.status == 200 && answer["www-authenticate"] == nil)
      #expect(answer.body.contains("insufficient_claims") && answer.body.contains("serverInfo"), "\(answer.body)")
    }
    #expect(Set(requests).count == 1, "\(requests)")
    #expect(!api.asked.contains("alpha"), "\(api.asked)")
  }

  @Test func `a server that demands more scopes without naming them gets those of its metadata that the route lists`()
    async throws
  {
    let (provider, server) = try await protected(.mcp, scopes: ["mcp.use", "mcp.admin"])
    for (list, isServed) in [("discovered, mcp.admin", true), ("discovered, other", false), ("mcp.admin", false)] {
      let proxy = try await adding(
        "as: application, scopes: [mcp.use], scopes_on_challenge: [\(list)]", to: server, provider.issuer)
      let report = try await mcpClient(.mcp, proxy.url("/tools"))
      #expect(report.isComplete == isServed, "\(list): \(report)\n\(proxy.process.errors)")
    }
  }

  @Test func `check and init read what a server says about its tokens`() async throws {
    let (provider, server) = try await protected(.mcp, scopes: ["mcp.use", "mcp.admin"])
    let proxy = try await adding("as: application, scopes: [mcp.use]", to: server, provider.issuer)
    let check = try await proxy.command(["check", "--live"])
    #expect(check.status == 0, "\(check.output)")
    #expect(check.output.contains("resource \(server.resource), of \(provider.issuer), scopes mcp.admin mcp.use"))
    #expect(check.output.contains("scopes_supported lists mcp.admin, which the route has neither in scopes nor in"))
    let found = try await run([binary(), "init", "--discover", server.resource])
    #expect(found.status == 0, "\(found.errors)")
    let expected = [
      "authority: \"\(provider.issuer)\"", "upstream: \"\(server.resource)/\"", "scopes: [\"mcp.admin\", \"mcp.use\"]",
      "resource: \"\(server.resource)\"", "# To register at \(provider.issuer), by hand:",
      "# - scope: mcp.admin mcp.use",
    ]
    for part in expected { #expect(found.output.contains(part), "\(part) in \(found.output)") }
    // It is a configuration.
    let file = try directory.write(found.output, to: "found.yaml")
    #expect(try await run([binary(), "check", "-c", file]).status == 0)
  }

  @Test(arguments: MCPLibrary.allCases)
  func `on a route with a token, the API's challenge leads no client to the API's provider`(
    client: MCPLibrary
  ) async throws {
    let (provider, server) = try await protected(.mcp, scopes: ["mcp.use", "mcp.admin"])
    let proxy = try await adding("as: application, scopes: [mcp.use]", to: server, provider.issuer)
    let direct = try await curl(["-X", "POST", server.resource])
    #expect(direct["www-authenticate"]?.contains("resource_metadata") == true)
    let answer = try await proxy.get("/tools", ["-X", "POST"])
    #expect(answer.status == 403)
    #expect(answer["www-authenticate"]?.contains("insufficient_scope") == true)
    #expect(answer["www-authenticate"]?.contains("resource_metadata") == false)
    let report = try await mcpClient(client, proxy.url("/tools"), Self.person)
    #expect(report.error != nil && report.sum == nil, "\(report)")
    #expect(try await provider.requests(to: "authorize") == 0)
  }
}
