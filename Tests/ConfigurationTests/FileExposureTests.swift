// Files with secrets that every user can read.

import Bytes
import Testing

@testable import Configuration

@Suite struct FileExposureTests {
  /// The issues and warnings of a part of a configuration, on its fourth line, whose files all have one content.
  private static func outcome(
    of fragment: String, allows: Bool = false, content: String = "",
    findExposure: @escaping @Sendable (String) -> UInt32? = { _ in nil },
    findWriters: @escaping @Sendable (String) -> FileWriters? = { _ in nil }
  ) -> (issues: [ConfigurationIssue], warnings: [String]) {
    let text = """
      listeners: [{address: '127.0.0.1:80'}]
      routes: [{name: a, path: /, upstream: 'http://[::1]', token: none}]
      allow_readable_secrets: \(allows)
      \(fragment)
      """
    do throws(ConfigurationError) {
      let settings = try Settings.decode(
        yaml: Array(text.utf8), file: "dir/f.yaml", environment: ["KEY": "from-the-environment"],
        files: FileAccess(
          read: { _, _ throws(UnreadableFile) in Array(content.utf8) }, findExposure: findExposure,
          findWriters: findWriters))
      return ([], settings.warnings.map(\.warning))
    } catch {
      return (error.issues, [])
    }
  }

  @Test(arguments: [
    (
      "applications: {x: {authority: 'https://id.example', client_id: x, client_secret_file: open-secret}}",
      "applications.x.client_secret_file: dir/open-secret"
    ),
    ("defaults: {tls: {certificate_file: cert.pem, key_file: open.key}}", "defaults.tls.key_file: dir/open.key"),
  ])
  func `such a file is refused with its place, unless that is allowed`(fragment: String, beginning: String) throws {
    let issues = messages(beside: fragment)
    #expect(issues.count == 1)
    #expect(issues.first?.hasPrefix("\(beginning) can be read by every user of this machine (mode 0644)") == true)
    #expect(messages(beside: fragment + "\nallow_readable_secrets: true").isEmpty)
  }

  /// `secret` is in the configuration's own text, below its application or rule.
  @Test(arguments: [
    "applications: {x: {authority: 'https://id.example', client_id: x, client_secret: SECRET}}",
    "admin: {address: '127.0.0.1:81', callers: {header: {name: X-Key, value: SECRET}}}",
    "cache: {redis: 'redis://127.0.0.1', password: SECRET}",
  ])
  func `a secret in a configuration that every user can read is refused with its place, unless that is allowed`(
    fragment: String
  ) throws {
    func problems(_ secret: String, mode: UInt32?, allows: Bool = false) -> [ConfigurationIssue] {
      Self.outcome(
        of: fragment.replacing("SECRET", with: secret), allows: allows,
        findExposure: { $0 == "dir/f.yaml" ? mode : nil }
      ).issues
    }
    let plain = "a-secret-in-its-place"
    let issue = try #require(problems(plain, mode: 0o644).first)
    #expect(issue.place.line == 4 && issue.message.contains("a secret is written in dir/f.yaml, which every user"))
    #expect(issue.message.contains("(mode 0644); chmod o-r helps") && !issue.message.contains(plain))
    #expect(problems(plain, mode: nil).isEmpty)
    #expect(problems(plain, mode: 0o644, allows: true).isEmpty)
    // A variable's value is not in the file.
    #expect(problems("'${KEY}'", mode: 0o644).isEmpty)
  }

  /// A part of the configuration that names a file, and the key.
  static let named: [(fragment: String, key: String?)] = [
    ("loops: 1", nil),
    ("defaults: {tls: {ca_file: FILE}}", "defaults.tls.ca_file"),
    ("defaults: {tls: {certificate_file: cert.pem, key_file: FILE}}", "defaults.tls.key_file"),
    (
      "applications: {x: {authority: 'https://id.example', client_id: x, client_secret_file: FILE}}",
      "applications.x.client_secret_file"
    ),
    (
      "applications: {x: {authority: 'https://id.example', client_id: x, client_assertion_file: FILE}}",
      "applications.x.client_assertion_file"
    ),
    ("cache: {redis: 'redis://127.0.0.1', password_file: FILE}", "cache.password_file"),
    ("cache: {file: tokens, key_file: FILE}", "cache.key_file"),
  ]

  private static let key = Base64.encode([UInt8](repeating: 1, count: 32))

  @Test(arguments: named)
  func `a file that every user can write is refused, one that some can is warned of`(fragment: String, key: String?)
    throws
  {
    let path = key == nil ? "dir/f.yaml" : "dir/secret"
    func outcome(_ writers: FileWriters?, allows: Bool = false) -> (issues: [String], warnings: [String]) {
      let (issues, warnings) = Self.outcome(
        of: fragment.replacing("FILE", with: "secret"), allows: allows,
        content: key == "cache.key_file" ? Self.key : "s3cret-s3cret-s3cret",
        findWriters: { $0 == path ? writers : nil })
      return (issues.map(\.description), warnings)
    }
    let everybody = FileWriters("can be written by everybody", areEverybody: true)
    let some = FileWriters("belongs to another user", areEverybody: false)
    let prefix = key.map { "\($0): " } ?? ""
    let place = key == nil ? "dir/f.yaml: " : "dir/f.yaml:4:"
    let issue = try #require(outcome(everybody).issues.first)
    #expect(issue.hasPrefix(place) && issue.hasSuffix("error: \(prefix)\(path) can be written by everybody"))
    for result in [outcome(everybody, allows: true), outcome(some)] {
      #expect(result.issues.isEmpty)
      let warning = try #require(result.warnings.first)
      #expect(warning.hasPrefix(place) && warning.contains("warning: \(prefix)\(path) "))
    }
    let none = outcome(nil)
    #expect(none.issues.isEmpty && none.warnings.isEmpty)
  }

  @Test(arguments: [
    "defaults: {tls: {certificate_file: both.pem, key_file: key}}", "defaults: {tls: {ca_file: both.pem}}",
  ])
  func `a private key beside a certificate that every user can read is refused`(fragment: String) {
    func issues(_ content: String, mode: UInt32?) -> [String] {
      Self.outcome(of: fragment, content: content, findExposure: { $0 == "dir/both.pem" ? mode : nil })
        .issues.map(\.message)
    }
    let certificate = "-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n"
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\n"
    let found = issues(certificate + key, mode: 0o644)
    #expect(found.count == 1 && found[0].contains("dir/both.pem can be read by every user of this machine (mode 0644)"))
    #expect(issues(certificate, mode: 0o644).isEmpty && issues(certificate + key, mode: nil).isEmpty)
  }
}
