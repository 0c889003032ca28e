// The files of config/ and the decoder agree. Tests/peers/schema.py validates the YAML files by schema.json.

import Bytes
import FoundationEssentials
import Routing
import TestSupport
import Testing
import Tokens

@testable import Configuration

@Suite struct `Published configuration` {
  /// Whatever is there: each is run by a test of its own elsewhere.
  static let recipes: [String] = {
    // Beside the engines' own files there.
    return [("recipes", ""), ("recipes/engines", "proxies")].flatMap { folder, prefix in
      let names = try? FileManager.default.contentsOfDirectory(atPath: testsDirectory + "/../config/\(folder)")
      return (names ?? []).filter { $0.hasSuffix(".yaml") && $0.hasPrefix(prefix) }.sorted().map { "\(folder)/\($0)" }
    }
  }()

  @Test func `there are recipes`() {
    #expect(Self.recipes.count > 10)
    #expect(Self.recipes.contains("recipes/engines/proxies.yaml"))
  }

  @Test(arguments: ["minimal.yaml", "full.yaml", "../deploy/kubernetes/tokens/proxy.yaml"] + recipes)
  func `the example has no issues`(name: String) throws {
    #expect(!Self.recipes.isEmpty, "config/recipes is missing")
    #expect(try !decodedExample(contents(name), file: name).routes.isEmpty)
  }

  @Test(arguments: ["../README.md", "cache.md"])
  func `the configurations that a page shows have no issues`(page: String) throws {
    let text = try contents(page)
    let blocks = text.split(separator: "```yaml\n").dropFirst().compactMap { $0.split(separator: "\n```").first }
    let whole = blocks.filter { $0.contains("listeners:") && $0.contains("routes:") }
    #expect(!whole.isEmpty)
    for block in whole {
      #expect(try !decodedExample(block, file: "proxy.yaml", environment: ["HOME": "/home/alice"]).routes.isEmpty)
    }
  }

  @Test func `the example's Redis server has no issues in the place of the file`() throws {
    var text = try contents("full.yaml")
    let others: [Key] = [.password, .sentinelPassword, .entra]
    for row in SectionShape.cache.rows
    where [.redis, .sentinel].contains(row.companion) && !others.contains(row.key) || row.key == .redis {
      text = text.replacing("\n  #\(row.key.rawValue):", with: "\n  \(row.key.rawValue):")
    }
    for row in SectionShape.upstreamTLS.rows {
      text = text.replacing("\n    #\(row.key.rawValue):", with: "\n    \(row.key.rawValue):")
    }
    text = text.replacing("\n  file: /var/lib/", with: "\n  #file: /var/lib/")
    let redis = try #require(try decodedExample(text, file: "full.yaml").redis)
    #expect(redis.server.value.description == "rediss://cache.internal.example:6379/0")
    guard case .sentinels(let sentinels) = redis.server.value.arrangement else {
      Issue.record("no sentinels")
      return
    }
    #expect((sentinels.primary, sentinels.user) == ("main", "bearer-proxy"))
    #expect((redis.server.value.user, redis.server.value.keyPrefix) == ("bearer-proxy", "bearer-proxy:"))
    #expect(redis.server.value.password?.revealed() == "contents-of-a-file")
    #expect(redis.clientCertificate?.keyFile.value == "/etc/bearer-proxy/tls/redis.key")
  }

  @Test(arguments: ConfigurationDocument.allCases)
  func `the committed file is what the table of settings gives`(document: ConfigurationDocument) throws {
    let committed = try contents(document.rawValue)
    let lines = committed.split(separator: "\n", omittingEmptySubsequences: false)
    let expected = document.text(present: committed).split(separator: "\n", omittingEmptySubsequences: false)
    let different = zip(lines, expected).first { $0 != $1 }
    #expect(different == nil, "bearer-proxy document config/\(document.rawValue)")
    #expect(lines.count == expected.count)
  }

  /// The decoder takes the first of both, and leaves to the table that there are not two.
  @Test func `a text and the file that may have it exclude one another`() {
    func check(_ shape: SectionShape, at path: String) {
      for row in shape.rows {
        if let inner = row.kind.inner { check(inner.shape, at: "\(path).\(row.key.rawValue)") }
        guard let file = Key(rawValue: row.key.rawValue + "_file"), shape[file] != nil, case .text = row.kind else {
          continue
        }
        let isChoice = shape.rules.contains { rule in
          switch rule {
          case .one: true
          case .oneOf(let keys): Set(keys).isSuperset(of: [row.key, file])
          case .some, .together, .schema: false
          }
        }
        #expect(isChoice || row.rivals.contains(file), "\(path).\(row.key.rawValue)")
      }
    }
    check(.file, at: "")
  }

  @Test func `a variable may say that a key does not count`() throws {
    let text = """
      listeners:
        - {address: 127.0.0.1:80, callers: {anyone: "${OPEN}", header: {name: X-Key, value: 0123456789abcdef}}}
      routes: [{name: a, path: /, upstream: 'http://[::1]', token: none}]
      """
    #expect(try decoded(text, environment: ["OPEN": "false"]).listeners[0].callers.rules.isOpen == false)
    #expect(throws: ConfigurationError.self) { try decoded(text, environment: ["OPEN": "true"]) }
  }

  @Test func `the full example has every key, some of them in a comment`() throws {
    let text = try contents("full.yaml")
    var issues: [ConfigurationIssue] = []
    // A key in a comment has no space behind the '#'.
    let uncommented = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let rest = line.drop { $0 == " " }
      let isKey = rest.hasPrefix("#") && !rest.hasPrefix("# ") && rest != "#"
      return isKey ? line.prefix(while: { $0 == " " }) + rest.dropFirst() : line
    }
    let root = try #require(
      YAMLNode.read(Array(uncommented.joined(separator: "\n").utf8), file: "full.yaml", issues: &issues))
    #expect(issues.isEmpty)
    var paths: Set<String> = []
    collect(root, shape: .file, prefix: "", into: &paths)
    #expect(paths == Set(SectionShape.file.paths().map(\.path)))
  }

  @Test(arguments: SectionShape.file.paths().map { DescribedRow(path: $0.path, row: $0.row) })
  func `every row has a sentence, and a default that its kind has`(described: DescribedRow) {
    let row = described.row
    #expect(row.text.hasSuffix("."), "\(row.text)")
    #expect(!row.text.contains("  "))
    guard let value = row.value else { return }
    switch row.kind {
    case .integer(let range): #expect(Int(value).map(range.contains) == true)
    case .size(let range, let orNone):
      #expect(value == "none" ? orNone : parsedSize(value).map(range.contains) == true)
    case .duration(let range, let orNone):
      #expect(value == "none" ? orNone : parsedDuration(value).map(range.contains) == true)
    case .text: break
    default: #expect(row.words.contains(value))
    }
  }

  /// The paths of keys in a tree, as `SectionShape.paths` spells them.
  private func collect(_ node: YAMLNode, shape: SectionShape, prefix: String, into paths: inout Set<String>) {
    guard case .mapping(let members) = node.content else { return }
    for member in members {
      let path = prefix + member.key
      paths.insert(path)
      guard let inner = Key(rawValue: member.key).flatMap({ shape[$0] })?.kind.inner else { continue }
      let below: [YAMLNode] =
        switch (inner.step, member.value.content) {
        case ("[].", .sequence(let elements)): elements
        case (".*.", .mapping(let names)): names.map(\.value)
        default: [member.value]
        }
      for node in below { collect(node, shape: inner.shape, prefix: path + inner.step, into: &paths) }
    }
  }
}

/// The text of a file of config/.
func contents(_ name: String) throws -> String {
  try String(contentsOfFile: testsDirectory + "/../config/\(name)", encoding: .utf8)
}

/// Decodes what is published, beside the variables and files that it names.
func decodedExample(
  _ text: some StringProtocol, file: String,
  environment: [String: String] = [
    "CONTOSO_SECRET": "hush-hush", "SERVICE_SECRET": "hush-hush", "FABRIKAM_SECRET": "hush-hush",
    "ARCHIVE_SECRET": "hush-hush", "LEDGER_PASSPHRASE": "hush-hush", "PROXY_LOGIN": "u:hush-hush",
    "HOME": "/home/alice",
    "ACTIONS_ID_TOKEN_REQUEST_URL": "https://actions.example/", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "hush-hush",
    "AZURE_FEDERATED_TOKEN_FILE": "/t", "AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t",
  ]
) throws(ConfigurationError) -> Settings {
  try Settings.decode(
    yaml: Array(text.utf8), file: "/etc/bearer-proxy/\(file)", environment: environment,
    files: FileAccess(read: { _, _ throws(UnreadableFile) in Array("contents-of-a-file\n".utf8) }))
}

/// A row for the table of a test.
struct DescribedRow: Sendable, CustomTestStringConvertible {
  let path: String
  let row: Row
  var testDescription: String { path }
}
