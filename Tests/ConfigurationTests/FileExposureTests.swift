// Files with secrets that everybody can read.

import Testing
import TestSupport

@testable import Configuration

@Suite struct FileExposureTests {
  @Test func `a file is exposed where it and every directory on the way let everybody in`() async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write("s", to: "secret")
    let place = String(file[..<(file.lastIndex(of: "/") ?? file.startIndex)])
    try await succeed(["chmod", "711", place])
    for (mode, isExposed) in [("600", false), ("640", false), ("604", true), ("644", true)] {
      try await succeed(["chmod", mode, file])
      #expect((exposure(of: file) != nil) == isExposed, "mode \(mode)")
    }
    try await succeed(["chmod", "710", place])
    #expect(exposure(of: file) == nil)
    #expect(exposure(of: directory.file("nothing")) == nil)
  }

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
}
