// The demonstration as users run it: the real proxy between the real services, and every step of the tour.

import TestSupport
import Testing

@testable import bearer_proxy_demo

@Suite("Tour", .timeLimit(.minutes(5))) struct TourTests {
  @Test func `every step goes as expected, and no secret or token is shown`() async throws {
    let directory = try TemporaryDirectory()
    let result = try await run(
      [binary("bearer-proxy-demo"), "--once", "--directory", directory.path, "--proxy", binary()],
      within: .seconds(90))
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("All 18 steps went as expected."))
    #expect(!result.output.contains("\u{1B}"), "colours on what is no terminal")
    let secret = directory.read("client-secret")
    try #require(secret.count == 32)
    for text in [result.output, directory.read("bearer-proxy.log")] {
      // Claims begin as tokens do, and have no dot.
      #expect(!text.contains(/eyJ[\w-]+\.[\w-]/))
      #expect(!text.contains(secret))
    }
  }

  @Test func `a proxy that does not start ends the demonstration with its last words`() async throws {
    let directory = try TemporaryDirectory()
    let result = try await run([
      binary("bearer-proxy-demo"), "--once", "--directory", directory.path, "--proxy", "/bin/false",
    ])
    #expect(result.status == 1)
    #expect(result.errors.contains("bearer-proxy did not become ready"))
  }

  @Test(
    arguments: [
      ([], DemoArguments.run(DemoOptions())), (["--once"], .run(DemoOptions(ending: .afterTour))),
      (["--directory", "d", "--proxy", "p"], .run(DemoOptions(directory: "d", proxyPath: "p"))),
      (["--once", "--help"], .help), (["--proxy"], .wrong("--proxy needs a value")),
      (["--twice"], .wrong("'--twice' is not an option")),
    ] as [([String], DemoArguments)]) func `words become options`(words: [String], expected: DemoArguments)
  {
    #expect(DemoArguments(words) == expected)
  }

  @Test(arguments: [
    ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"), ("a?b=1&c", "'a?b=1&c'"), ("", "''"),
    ("it's", "'it'\\''s'"),
    ("Origin: x", "'Origin: x'"),
  ]) func `words are shown as a shell wants them`(word: String, shown: String) async throws {
    #expect(quoted(word) == shown)
    #expect(try await succeed(["sh", "-c", "printf %s \(quoted(word))"]) == word)
  }
}
