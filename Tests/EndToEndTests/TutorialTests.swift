// The pages that lead a new user, step by step: every configuration in them, and every command that can run here, in
// their order and word for word. Only addresses and names of the examples are replaced by the test's.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct TutorialTests {
  private typealias Sample = DemoDirectory.Sample
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static let root = testsDirectory + "/.."
  private static let entra = "https://login.microsoftonline.com/contoso.onmicrosoft.com"
  private static let noID = "00000000-0000-0000-0000-000000000000"
  private static let secret = "THE CLIENT SECRET"

  /// A fenced part of a page.
  struct Block {
    /// `sh`, `yaml`, or empty.
    var language: String
    var text: String

    /// The name in the first line of a configuration: `# NAME.yaml`.
    var file: String? {
      text.firstMatch(of: /^# ([\w-]+\.yaml)\n/).map { String($0.1) }
    }

    /// The commands, each on one line, without those that need another party's server or another machine.
    var commands: [String] {
      guard language != "yaml" else { return [] }
      let others = ["az ", "kcadm.sh ", "deploy/", "Tests/", "swift ", "sudo "]
      return text.replacing("\\\n", with: " ").split(separator: "\n").map(String.init)
        .filter { line in !others.contains { line.hasPrefix($0) } && !line.hasPrefix(" ") }
    }
  }

  /// The blocks of a page, or of its section under a heading.
  private static func blocks(of page: String, under heading: String? = nil) throws -> [Block] {
    var text = textOfFile("\(root)/\(page)")
    if let heading {
      let start = try #require(text.firstRange(of: "\n## \(heading)\n"), "\(page) has no section \(heading)").upperBound
      text = String(text[start...].prefix(upTo: text[start...].firstRange(of: "\n## ")?.lowerBound ?? text.endIndex))
    }
    return text.matches(of: /(?s)\n```(\w*)\n(.*?\n)```\n/).map { Block(language: String($0.1), text: String($0.2)) }
  }

  /// Replaces what is in the page; each has to be there.
  private func adapted(_ blocks: [Block], _ changes: [(from: String, to: String)]) throws -> [Block] {
    try blocks.map { block in
      var block = block
      for change in changes {
        try #require(blocks.contains { $0.text.contains(change.from) }, "the page has no \(change.from)")
        block.text = block.text.replacing(change.from, with: change.to)
      }
      return block
    }
  }

  /// Ports that are free in the place of the page's.
  private func ports(_ blocks: [Block]) throws -> [(from: String, to: String)] {
    try ["127.0.0.1:8080", "127.0.0.1:9901"].filter { port in blocks.contains { $0.text.contains(port) } }
      .map { ($0, "127.0.0.1:\(try freePort())") }
  }

  /// Does what the page says, from the top to the bottom. The output of each command that ended.
  private func walk(_ blocks: [Block], person: SigningInPerson) async throws -> [String: String] {
    var proxies: [ChildProcess] = []
    var outputs: [String: String] = [:]
    let path = try binary().split(separator: "/").dropLast().joined(separator: "/")
    for block in blocks {
      if let file = block.file { try directory.write(block.text, to: file) }
      for command in block.commands {
        let words = command.split(separator: "#")[0].split(separator: " ").map(String.init)
        if command.hasPrefix("bearer-proxy run"), words.last == "&" {
          let shell = [
            "sh", "-c", "cd '\(directory.path)' && exec /\(path)/\(words.dropLast().joined(separator: " "))",
          ]
          proxies.append(try ChildProcess("run-\(proxies.count)", shell, in: directory))
          ProxyLedger.current?.add(secret: Self.secret)
        } else if command.hasPrefix("bearer-proxy login") {
          let file = try #require(words.firstIndex(of: "-c").map { words[$0 + 1] })
          let login = try await Login.run(directory.file(file), Array(words.dropFirst(4)), person: person)
          #expect(login.status == 0, "\(command): \(login.errors)")
        } else {
          let isCall = command.hasPrefix("curl ") || command.hasPrefix("bearer-proxy status")
          let shell = ["sh", "-c", "cd '\(directory.path)' && PATH=\"/\(path):$PATH\" && \(command)"]
          var result = try await TestSupport.run(shell)
          // A proxy that was just started, or a sign-in that it has not noticed yet.
          _ = try await eventually {
            if isCall, result.status != 0 || result.output.contains("urn:bearer-proxy:problem") {
              result = try await TestSupport.run(shell)
            }
            return result.status == 0 && !result.output.contains("urn:bearer-proxy:problem")
          }
          #expect(result.status == 0, "\(command): \(result.output)\(result.errors)")
          outputs[String(command.prefix { $0 != "#" }).trimmingSpaces] = result.output
        }
      }
    }
    for proxy in proxies { try await proxy.stop() }
    return outputs
  }

  /// Trust in the sample's authority for provider and upstream, which a cloud's own need not have.
  private func trusting(_ blocks: [Block], _ demo: DemoScene) -> [Block] {
    blocks.map { block in
      guard block.file != nil else { return block }
      var block = block
      block.text = block.text.replacing(/\n    client_id: .*/) { "\($0.output)\n    \(demo.tls)" }
      block.text += "defaults: {\(demo.tls)}\n"
      return block
    }
  }

  /// A page that leads to Graph as a person, walked with the sample provider and API.
  private func walkGraph(_ blocks: [Block]) async throws {
    let demo = try DemoScene()
    let services = demo.services
    let text = try adapted(
      blocks,
      [
        (Self.entra, services.issuer), (Self.noID, Sample.desk), ("alice@contoso.com", Sample.alice),
        ("https://graph.microsoft.com/v1.0/", services.apiOrigin + "/api/"),
        ("[User.Read]", "[\"api://orders/Orders.Read\"]"),
      ] + ports(blocks))
    let outputs = try await walk(trusting(text, demo), person: demo.person())
    #expect(outputs.contains { $0.key.hasSuffix("/graph/me") && $0.value.contains(Sample.alice) }, "\(outputs)")
  }

  /// A page that leads to an API as an application, walked with the sample provider and API.
  private func walkOrders(_ blocks: [Block]) async throws {
    let demo = try DemoScene()
    let (services, secret) = (demo.services, textOfFile(demo.settings.secretPath))
    ProxyLedger.current?.add(secret: secret)
    let text = try adapted(
      blocks,
      [
        (Self.entra, services.issuer), (Self.noID, Sample.portal), (Self.secret, secret),
        ("https://orders.example/", services.apiOrigin + "/"),
      ] + ports(blocks))
    let outputs = try await walk(trusting(text, demo), person: SigningInPerson())
    #expect(outputs.contains { $0.key.contains("/orders/") && !$0.value.isEmpty }, "\(outputs)")
  }

  @Test func `README.md: for an application`() async throws {
    try await walkOrders(Self.blocks(of: "README.md", under: "For an application"))
  }

  @Test func `README.md: for a person`() async throws {
    try await walkGraph(Self.blocks(of: "README.md", under: "For a person"))
  }

  @Test func `docs/graph-person.md`() async throws {
    try await walkGraph(Self.blocks(of: "docs/graph-person.md"))
  }

  @Test func `docs/daemon.md`() async throws {
    try await walkOrders(Self.blocks(of: "docs/daemon.md"))
  }

  @Test func `docs/keycloak.md`() async throws {
    let provider = try await OpenIDProvider(OpenIDProvider.desk + ["--realm", "main"])
    let issuer = provider.issuer(ofRealm: "main")
    let blocks = try Self.blocks(of: "docs/keycloak.md")
    let text = try adapted(
      blocks,
      [
        ("https://id.example/realms/main", issuer), ("https://orders.example/api/", issuer + "/api/"),
        (Self.secret, OpenIDProvider.secret),
      ] + ports(blocks))
    let outputs = try await walk(text, person: OpenIDProvider.ann())
    for route in ["all", "mine"] {
      #expect(outputs.contains { $0.key.hasSuffix("/\(route)/whoami") && $0.value.contains(issuer) }, "\(outputs)")
    }
  }

  @Test func `docs/mcp.md`() async throws {
    let port = try freePort()
    let resource = "http://127.0.0.1:\(port)/mcp"
    let provider = try await OpenIDProvider(
      OpenIDProvider.desk + ["--scope", "mcp.use", "--scope", "mcp.admin", "--resource", resource])
    let server = try await MCPServer(.mcp, in: directory, port: port, issuer: provider.issuer, scopes: ["mcp.use"])
    let blocks = try Self.blocks(of: "docs/mcp.md")
    let free = try ["127.0.0.1:8081", "127.0.0.1:9902"].map { (from: $0, to: "127.0.0.1:\(try freePort())") }
    let text = try adapted(
      blocks,
      [
        ("https://id.example/realms/main", provider.issuer), ("https://mcp.example/mcp", resource),
        (Self.secret, OpenIDProvider.secret),
      ] + free + ports(blocks))
    let outputs = try await walk(text, person: OpenIDProvider.ann())
    for route in ["tools", "jobs"] {
      #expect(outputs.contains { $0.key.hasSuffix("/\(route)") && $0.value.contains("serverInfo") }, "\(outputs)")
    }
    #expect(outputs.contains { $0.key.hasSuffix("resource/tools") && $0.value.contains(provider.issuer) }, "\(outputs)")
    #expect(server.requests.contains { $0.subject == OpenIDProvider.client })
  }

  @Test func `check accepts every configuration in README.md and docs`() async throws {
    try await succeed(["mkdir", "-m", "700", directory.file("cache")])
    let pages = try FileManager.default.contentsOfDirectory(atPath: "\(Self.root)/docs")
      .filter { $0.hasSuffix(".md") }.map { "docs/\($0)" }
    var count = 0
    for page in pages + ["README.md"] {
      for block in try Self.blocks(of: page) where block.language == "yaml" {
        let file = try #require(block.file, "\(page): a configuration without a name: \(block.text)")
        // A pod's token is here in the configuration's directory, like the secrets.
        let text = block.text.replacing("/var/run/secrets/azure/tokens/", with: "")
        for match in text.matches(of: /client_(?:secret|assertion)_file: ([\w.-]+)\n/) {
          try directory.write("secret-of-a-page", to: String(match.1))
        }
        let check = try await TestSupport.run([binary(), "check", "-c", try directory.write(text, to: file)])
        #expect(check.status == 0, "\(page): \(check.output)\(check.errors)")
        count += 1
      }
    }
    #expect(count >= 8)
  }
}

extension String {
  fileprivate var trimmingSpaces: String { String(reversed().drop { $0 == " " }.reversed()) }
}
