// Files with secrets that everybody can read.

import Testing

@testable import Configuration

@Suite struct FileExposureTests {
  @Test(arguments: [
    (
      "applications: {x: {authority: 'https://id.example', client_id: x, client_secret_file: open-secret}}",
      "applications.x.client_secret_file: dir/open-secret"
    ),
    ("defaults: {tls: {certificate_file: cert.pem, key_file: open.key}}", "defaults.tls.key_file: dir/open.key"),
  ])
  func `such a file is refused with its place, unless that is allowed`(fragment: String, beginning: String) throws {
    let text =
      "listeners: [{address: '127.0.0.1:80'}]\nroutes:\n  - {name: a, path: /, upstream: 'http://[::1]', token: none}\n"
      + fragment
    let issues = messages(text)
    #expect(issues.count == 1)
    #expect(issues.first?.hasPrefix("\(beginning) can be read by everybody on this machine (mode 0644)") == true)
    #expect(messages(text + "\nallow_readable_secrets: true").isEmpty)
  }

  /// `secret` stands in the configuration's own text, below its application or rule.
  @Test(arguments: [
    "applications: {x: {authority: 'https://id.example', client_id: x, client_secret: SECRET}}",
    "admin: {address: '127.0.0.1:81', callers: {header: {name: X-Key, value: SECRET}}}",
    "cache: {redis: 'redis://127.0.0.1', password: SECRET}",
  ])
  func `a secret in a configuration that everybody can read is refused with its place, unless that is allowed`(
    fragment: String
  ) throws {
    func problems(_ secret: String, mode: UInt32?, allows: Bool = false) -> [ConfigurationIssue] {
      let text =
        "listeners: [{address: '127.0.0.1:80'}]\nroutes: [{name: a, path: /, upstream: 'http://[::1]', token: none}]\n"
        + "allow_readable_secrets: \(allows)\n" + fragment.replacing("SECRET", with: secret)
      do throws(ConfigurationError) {
        _ = try Settings.decode(
          yaml: Array(text.utf8), file: "dir/f.yaml", environment: ["KEY": "from-the-environment"],
          findExposure: { $0 == "dir/f.yaml" ? mode : nil })
        return []
      } catch {
        return error.issues
      }
    }
    let plain = "a-secret-in-its-place"
    let issue = try #require(problems(plain, mode: 0o644).first)
    #expect(issue.place.line == 4 && issue.message.contains("a secret stands in dir/f.yaml, which everybody on this"))
    #expect(issue.message.contains("(mode 0644); chmod o-r helps") && !issue.message.contains(plain))
    #expect(problems(plain, mode: nil).isEmpty)
    #expect(problems(plain, mode: 0o644, allows: true).isEmpty)
    // What a variable holds does not stand in the file.
    #expect(problems("'${KEY}'", mode: 0o644).isEmpty)
  }
}
