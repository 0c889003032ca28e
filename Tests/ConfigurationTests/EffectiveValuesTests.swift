// The values in force and their sources, without any secret.

import Testing

@testable import Configuration

@Suite struct `Effective values` {
  private static let yaml = """
    listeners:
      - address: 127.0.0.1:8080
        callers: {header: {name: X-Key, value: "${KEY}"}}
    log: {level: debug}
    applications:
      contoso:
        authority: https://${HOST}/realm
        client_id: me
        client_secret: hush-hush
    defaults:
      timeouts: {idle: 90s}
    routes:
      - name: orders
        path: /orders/
        upstream: https://orders.example/
        application: contoso
        token: {as: application, scopes: [a.b]}
        tls: {ca_file: ca.pem}
      - {name: open, path: /, upstream: "http://127.0.0.1:1/", token: none}
    """
  private static let environment = ["KEY": "a-key-of-more-than-16", "HOST": "id.example"]

  static let rows: [(key: String, value: String, source: String)] = [
    ("listeners[0].address", "127.0.0.1:8080", "/etc/bearer-proxy/p.yaml:2:14"),
    ("listeners[0].callers.header.value", "[secret]", "/etc/bearer-proxy/p.yaml:3:44, environment KEY"),
    ("log.level", "error", "--log-level"), ("log.format", "text", "environment BEARER_PROXY_LOG_FORMAT"),
    ("log.access", "true", "default"), ("loops", "one for each core", "default"),
    ("applications.contoso.authority", "https://id.example/realm", "/etc/bearer-proxy/p.yaml:7:16, environment HOST"),
    ("applications.contoso.client_secret", "[secret]", "/etc/bearer-proxy/p.yaml:9:20"),
    ("defaults.timeouts.idle", "90s", "/etc/bearer-proxy/p.yaml:11:20"), ("defaults.timeouts.connect", "5s", "default"),
    ("routes[0].timeouts.idle", "90s", "default from defaults.timeouts.idle"),
    ("routes[0].token.scopes[0]", "a.b", "/etc/bearer-proxy/p.yaml:17:39"),
    ("routes[0].token.existing", "replace", "default"),
    ("routes[0].tls.ca_file", "/etc/bearer-proxy/ca.pem", "/etc/bearer-proxy/p.yaml:18:20"),
    ("routes[1].token", "none", "/etc/bearer-proxy/p.yaml:19:67"), ("cache.memory", "true", "default"),
    ("limits.head_bytes", "32KiB", "default"), ("limits.body_bytes", "none", "default"),
    ("listeners[0].sign_in", "false", "default"), ("listeners[0].callers.anyone", "false", "default"),
    ("applications.contoso.offline_access", "true", "default"), ("shutdown.limit", "30s", "default"),
    ("routes[0].pool.max_idle", "64", "default from defaults.pool.max_idle"),
    ("routes[1].timeouts.exchange", "none", "default from defaults.timeouts.exchange"),
    ("routes[0].methods", "every method", "default"),
  ]

  @Test(arguments: rows)
  func `a value has its source`(key: String, value: String, source: String) throws {
    let settings = try decodedExample(Self.yaml, file: "p.yaml", environment: Self.environment)
    let values = settings.effectiveValues(above: [
      ConfiguredValue("log.level", "error", .option("--log-level")),
      ConfiguredValue("log.format", "text", .variable("BEARER_PROXY_LOG_FORMAT")),
    ])
    let found = values.filter { $0.key == key }
    #expect(found.map(\.value) == [value])
    #expect(found.map(\.source.description) == [source])
    #expect(Set(values.map(\.key)).count == values.count)
    #expect(!values.contains { $0.value.contains("hush") || $0.value.contains("a-key-of") })
  }

  @Test func `of an absent section the defaults that have a meaning are listed`() throws {
    let values = try decodedExample(
      """
      listeners: [{address: 127.0.0.1:1}]
      applications:
        a.b: {authority: "https://id.example", client_id: c}
        a: {credential: {managed_identity: {}}}
      routes: [{name: a, path: /, upstream: "http://127.0.0.1", token: none}]
      limits: {head_bytes: 4KiB}
      """, file: "p.yaml"
    ).effectiveValues().map { "\($0.key): \($0.value)" }
    #expect(values.contains("applications.a.b.offline_access: true"))
    // A machine's identity has no refresh tokens.
    #expect(!values.contains { $0.hasPrefix("applications.a.offline_access") })
    #expect(values.contains("limits.target_bytes: 4KiB"))
    #expect(!values.contains { $0.hasPrefix("cache.key_prefix") || $0.hasPrefix("listeners[0].sign_in.") })
    #expect(!values.contains { $0.hasPrefix("admin") || $0.hasPrefix("routes[0].token.") })
  }

  @Test func `of a Redis server's URL no user and no password is shown, whichever way they came`() throws {
    let text = """
      listeners: [{address: 127.0.0.1:1}]
      routes: [{name: a, path: /, upstream: "http://127.0.0.1", token: none}]
      cache: {redis: "${URL}"}
      """
    let values = try decoded(text, environment: ["URL": "rediss://alice:hush%2Dhush@c.example:7/3"]).effectiveValues()
    #expect(values.first { $0.key == "cache.redis" }?.value == "rediss://c.example:7/3")
    #expect(values.first { $0.key == "cache.key_prefix" }?.value == "bearer-proxy:")
    #expect(!values.contains { $0.value.contains("hush") || $0.value.contains("alice") })
  }

  @Test func `everything that the full example gives is there, and no secret`() throws {
    let values = try decodedExample(contents("full.yaml"), file: "full.yaml").effectiveValues()
    let shapes = Set(values.map { Self.shape($0.key) })
    // Of two keys that exclude one another, one is in use.
    let absent = Set(SectionShape.file.paths().filter { $0.row.kind.inner == nil }.map(\.path)).subtracting(shapes)
    // A file replaces memory and a Redis server.
    #expect(
      Set(absent.filter { !$0.hasPrefix("cache.") }) == [
        "listeners[].callers.header.value", "listeners[].programs.*.secret", "admin.callers.header.value",
        "admin.callers.unix.uids", "admin.callers.unix.gids",
        "routes[].token.value", "routes[].token.basic.password",
        // The operator chooses the names below it.
        "routes[].token.parameters", "routes[].request_headers.set", "applications.*.credential.certificate.claims",
      ])
    #expect(absent.contains("cache.memory") && absent.contains("cache.redis") && !absent.contains("cache.file"))
    #expect(!values.contains { $0.value.contains("hush") || $0.value.contains("contents-of") })
  }

  @Test(arguments: [
    ("rediss://me:word@cache.example:6379/0", "rediss://[secret]@cache.example:6379/0"),
    ("https://a.example/b@c", "https://a.example/b@c"), ("a@b.example", "a@b.example"),
  ])
  func `a user and a password in a URL are not shown`(text: String, shown: String) {
    #expect(ConfiguredValue.withoutUserInformation(text) == shown)
  }

  /// `routes[0].token.scopes[1]` as the table of keys has it: `routes[].token.scopes`.
  private static func shape(_ key: String) -> String {
    var parts = key.split(separator: ".").map { part in
      part.firstIndex(of: "[").map { part[..<$0] + "[]" } ?? String(part)
    }
    if parts.first == "applications" { parts[1] = "*" }
    if let programs = parts.firstIndex(of: "programs"), programs + 1 < parts.count { parts[programs + 1] = "*" }
    if let values = parts.firstIndex(of: "values"), values + 1 < parts.count { parts[values + 1] = "*" }
    // The elements of a list of values have no place of their own there.
    if let last = parts.last, last.hasSuffix("[]") { parts[parts.count - 1] = String(last.dropLast(2)) }
    return parts.joined(separator: ".")
  }
}
