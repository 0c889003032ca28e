// That config/minimal.yaml, config/full.yaml, config/schema.json and the decoder agree. A validator that knows all of
// JSON Schema looks at the two YAML files elsewhere; here the keys, descriptions and defaults are compared.

import Bytes
import FoundationEssentials
import Testing
import Tokens

@testable import Configuration

@Suite struct `Published configuration` {
  /// Whatever is there: each is run by a test of its own elsewhere.
  static let recipes: [String] = {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return ["recipes", "recipes/engines"].flatMap { folder in
      let names = try? FileManager.default.contentsOfDirectory(atPath: "/\(root)/config/\(folder)")
      return (names ?? []).filter { $0.hasSuffix(".yaml") }.sorted().map { "\(folder)/\($0)" }
    }
  }()

  @Test func `there are recipes`() {
    #expect(Self.recipes.count > 10)
    #expect(Self.recipes.contains("recipes/engines/proxies.yaml"))
  }

  @Test(arguments: ["minimal.yaml", "full.yaml"] + recipes)
  func `the example has no issues`(name: String) throws {
    let settings = try Settings.decode(
      yaml: try contents(name), file: "/etc/bearer-proxy/\(name)",
      environment: [
        "CONTOSO_SECRET": "s3cret", "SERVICE_SECRET": "s3cret", "HOME": "/home/alice", "FABRIKAM_SECRET": "s3cret",
        "PROXY_LOGIN": "u:p", "LEDGER_PASSPHRASE": "p", "ARCHIVE_SECRET": "s3cret",
        "ACTIONS_ID_TOKEN_REQUEST_URL": "https://actions.example/", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "s",
        "AZURE_FEDERATED_TOKEN_FILE": "/t", "AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t",
      ],
      readFile: { _, _ throws(UnreadableFile) in Array("contents-of-a-file\n".utf8) })
    #expect(!settings.routes.isEmpty)
  }

  @Test(arguments: ["../README.md", "cache.md"])
  func `the configurations that a page shows have no issues`(page: String) throws {
    let text = String(decoding: try contents(page), as: UTF8.self)
    let blocks = text.split(separator: "```yaml\n").dropFirst().compactMap { $0.split(separator: "\n```").first }
    let whole = blocks.filter { $0.contains("listeners:") && $0.contains("routes:") }
    #expect(!whole.isEmpty)
    for block in whole {
      let settings = try Settings.decode(
        yaml: Array(block.utf8), file: "/etc/bearer-proxy/proxy.yaml", environment: ["HOME": "/home/alice"],
        readFile: { _, _ throws(UnreadableFile) in Array("contents-of-a-file\n".utf8) })
      #expect(!settings.routes.isEmpty)
    }
  }

  /// A Redis server takes the place of a file.
  private let redisKeys =
    SectionShape.cache.keys.map(\.key).filter { ![.file, .memory].contains($0) }
    .map { "cache.\($0.rawValue)" } + ["cache.tls.ca_file", "cache.tls.certificate_file", "cache.tls.key_file"]

  @Test func `the example's Redis server has no issues in the place of the file`() throws {
    var text = String(decoding: try contents("full.yaml"), as: UTF8.self)
    for key in redisKeys where !key.hasPrefix("cache.tls.") && key != "cache.password" {
      text = text.replacing("  # \(key.dropFirst(6)): ", with: "  \(key.dropFirst(6)): ")
    }
    text = text.replacing("  file: /var/lib/", with: "  # file: /var/lib/")
    let settings = try Settings.decode(
      yaml: Array(text.utf8), file: "/etc/full.yaml",
      environment: [
        "FABRIKAM_SECRET": "s3cret", "PROXY_LOGIN": "u:p", "LEDGER_PASSPHRASE": "p", "ARCHIVE_SECRET": "s3cret",
        "HOME": "/home/alice",
        "ACTIONS_ID_TOKEN_REQUEST_URL": "https://actions.example/", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "s",
        "AZURE_FEDERATED_TOKEN_FILE": "/t", "AZURE_CLIENT_ID": "c", "AZURE_TENANT_ID": "t",
      ],
      readFile: { _, _ throws(UnreadableFile) in Array("contents-of-a-file\n".utf8) })
    guard case .redis(let redis) = settings.cache else {
      Issue.record("\(settings.cache)")
      return
    }
    #expect(redis.server.value.description == "rediss://cache.internal.example:6379/0")
    #expect((redis.server.value.user, redis.server.value.keyPrefix) == ("bearer-proxy", "bearer-proxy:"))
    #expect(redis.server.value.password?.revealed() == "contents-of-a-file")
    #expect(redis.clientCertificate?.keyFile.value == "/etc/tls/redis.key")
  }

  @Test func `the full example uses every key, and comments each`() throws {
    let bytes = try contents("full.yaml")
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    var issues: [ConfigurationIssue] = []
    let root = try #require(YAMLNode.read(bytes, file: "full.yaml", issues: &issues))
    var places: [String: Place] = [:]
    collect(root, shape: .file, prefix: "", into: &places)
    // Of two keys that exclude one another, one is in use and the other a comment.
    #expect(
      Set(SectionShape.file.paths()).subtracting(places.keys)
        == Set(
          [
            "cache.memory", "listeners[].callers.header.value", "admin.callers.header.value", "admin.callers.unix",
            "admin.callers.unix.uids", "admin.callers.unix.gids",
          ] + redisKeys))
    #expect(Set(places.keys).isSubset(of: SectionShape.file.paths()))
    #expect(lines.contains("  # memory: true"))
    for key in redisKeys where !key.hasPrefix("cache.tls.") {
      #expect(lines.contains { $0.hasPrefix("  # \(key.dropFirst(6)): ") }, "\(key)")
    }
    #expect(lines.contains("        # value: ${PROXY_KEY}"))
    for (path, place) in places {
      let above = lines[place.line - 2].drop { $0 == " " || $0 == "-" }
      #expect(above.hasPrefix("#"), "\(path) on line \(place.line) has no comment above it")
    }
  }

  @Test func `the schema has the decoder's keys, each described, and no others`() throws {
    let schema = try PublishedSchema(contents("schema.json"))
    #expect(Set(schema.properties.map(\.path)) == Set(SectionShape.file.paths()))
    for property in schema.properties {
      #expect(property.description?.isEmpty == false, "\(property.path) is not described")
    }
    #expect(schema.openSections.isEmpty)
  }

  @Test func `the schema's defaults are the decoder's`() throws {
    let schema = try PublishedSchema(contents("schema.json"))
    // YAML reads JSON: each default is set in turn and must change nothing.
    var defaults: [String: String] = [:]
    for property in schema.properties {
      if let text = property.defaultText { defaults[property.path] = text }
    }
    let base = try decoded(settings(besides: ""))
    for (path, text) in defaults where !path.contains("[]") {
      let keys = path.split(separator: ".")
      // They stand beside 'redis' only.
      if keys.first == "admin" || redisKeys.contains(path) { continue }
      let yaml = keys.reversed().reduce(text) { "{\($1): \($0)}" }
      let changed = try decoded(settings(besides: String(yaml.dropFirst().dropLast())))
      #expect(changed.log == base.log, "\(path)")
      #expect(changed.limits == base.limits, "\(path)")
      #expect(changed.shutdown == base.shutdown, "\(path)")
      #expect(changed.timeouts == base.timeouts, "\(path)")
      #expect(changed.routes.map(\.pool) == base.routes.map(\.pool), "\(path)")
      #expect(changed.cache == base.cache, "\(path)")
    }
    // Every key of these sections has a default, so a new one cannot be forgotten in the schema.
    let asked = Set(
      ["cache.file", "log.access_file"]
        + redisKeys.filter { !["cache.key_prefix", "cache.allow_plaintext"].contains($0) })
    for path in SectionShape.file.paths() where !asked.contains(path) {
      let sections = ["log.", "cache.", "limits.", "shutdown.", "defaults.timeouts.", "defaults.pool."]
      if sections.contains(where: { path.hasPrefix($0) }) {
        #expect(defaults[path] != nil, "\(path) has no default in the schema")
      }
    }
  }

  private func settings(besides line: String) -> String {
    """
    listeners:
      - address: 127.0.0.1:8080
    routes:
      - {name: a, path: /, upstream: "http://127.0.0.1", token: none}
    \(line)

    """
  }

  private func contents(_ name: String) throws -> [UInt8] {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return Array(try Data(contentsOf: URL(filePath: "/\(root)/config/\(name)")))
  }

  /// The paths of keys in a tree, as `SectionShape.paths` spells them, with the first place of each.
  private func collect(_ node: YAMLNode, shape: SectionShape, prefix: String, into places: inout [String: Place]) {
    guard case .mapping(let members) = node.content else { return }
    for member in members {
      let path = prefix + member.key
      places[path] = places[path] ?? member.place
      guard let key = Key(rawValue: member.key), let shape = shape.shape(of: key) else { continue }
      switch (shape, member.value.content) {
      case (.section(let inner), _): collect(member.value, shape: inner, prefix: path + ".", into: &places)
      case (.sections(let inner), .sequence(let elements)):
        for element in elements { collect(element, shape: inner, prefix: path + "[].", into: &places) }
      case (.namedSections(let inner), .mapping(let names)):
        for name in names { collect(name.value, shape: inner, prefix: path + ".*.", into: &places) }
      default: break
      }
    }
  }
}
