// The output of `version`, with and without the stamp of a release.

import Testing

@testable import bearer_proxy

@Suite struct `The version` {
  static let cases: [(OutputForm, String?, String)] = [
    (.text, nil, "bearer-proxy \(programVersion)\n"),
    (.text, "0123456789abcdef", "bearer-proxy \(programVersion) (0123456789ab)\n"),
    (.json, nil, "{\"name\":\"bearer-proxy\",\"version\":\"\(programVersion)\"}\n"),
    (
      .json, "0123456789abcdef",
      "{\"name\":\"bearer-proxy\",\"version\":\"\(programVersion)\",\"commit\":\"0123456789abcdef\"}\n"
    ),
  ]

  @Test(arguments: cases)
  func `names the commit if a release stamped it`(form: OutputForm, commit: String?, expected: String) {
    #expect(versionText(form, commit: commit) == expected)
  }

  @Test func `is unstamped in the source`() {
    #expect(programCommit == nil)
  }
}
