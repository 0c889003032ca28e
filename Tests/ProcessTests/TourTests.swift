// The demonstration as users run it: the real proxy between the real services, every step of the tour, and every call
// that is printed to be tried.

import Bytes
import DemoProvider
import Glibc
import Platform
import TestSupport
import Testing

@testable import bearer_proxy_demo

@Suite("Tour", .timeLimit(.minutes(5))) struct TourTests {
  @Test func `every step goes as expected, and no secret or token is shown`() async throws {
    let directory = try TemporaryDirectory()
    let result = try await run(
      [binary("bearer-proxy-demo"), "--once", "--verbose", "--directory", directory.path, "--proxy", binary()],
      within: .seconds(180))
    #expect(result.status == 0, "\(result.output)\(result.errors)")
    #expect(result.output.contains("All 23 steps went as expected."))
    expectNothingSecret(result.output, directory)
  }

  private func expectNothingSecret(_ output: String, _ directory: TemporaryDirectory) {
    #expect(!output.contains("\u{1B}"), "colours on what is no terminal")
    let secret = directory.read("client-secret")
    #expect(secret.count == 32)
    for text in [output] + ["proxy", "gateway", "branch"].map({ directory.read("\($0).log") }) {
      // Claims begin as tokens do, and have no dot.
      #expect(!text.contains(/eyJ[\w-]+\.[\w-]/))
      #expect(!text.contains(secret))
    }
  }

  @Test func `parts fit a screen, ports in use are said, and every call to try works when pasted`() async throws {
    // If this fails, another process has the port.
    let held = try? BoundSocket.bind(SocketAddress(.ipv4(0x7F00_0001, port: 8080)), count: 1)
    defer { for socket in held ?? [] { socket.close() } }
    let directory = try TemporaryDirectory()
    let demonstration = try TestSupport.ChildProcess(
      "demo", [binary("bearer-proxy-demo"), "--directory", directory.path, "--proxy", binary()], in: directory)
    let isUp = try await eventually(within: .seconds(180)) {
      demonstration.output.contains("Ctrl-C ends it") || demonstration.poll() != nil
    }
    let output = demonstration.output
    try #require(isUp && demonstration.poll() == nil, "\(output)\(demonstration.errors)")
    #expect(output.contains("All 23 steps went as expected."), "\(output)")
    #expect(output.contains("Port 8080 is in use: the proxy is at http://127.0.0.1:"), "\(output)")
    expectNothingSecret(output, directory)

    // The length of the directory's name is the machine's, and so are the ports that other processes have.
    let usual = output.replacing(directory.path, with: "/tmp/bearer-proxy-demo-12345")
      .replacing(/Port (?!8080)\d+ is in use: .*\n/, with: "")
    let parts = usual.split(
      separator: /\n(?=.* \(\d of 9\)\n)|\n(?=Try it yourself)/)
    #expect(parts.count == 11)
    // On a terminal, an empty line and the question for Enter follow.
    for part in parts {
      let rows = String(part).trimmed.split(separator: "\n", omittingEmptySubsequences: false)
        .reduce(0) { $0 + max(1, ($1.count + Terminal.columns - 1) / Terminal.columns) }
      #expect(rows <= Terminal.rows - (part.hasPrefix("Try") ? 0 : 2), "\(rows) rows: \(part)")
    }
    let last = try #require(output.firstRange(of: "Try it yourself"))
    try await paste(String(output[last.lowerBound...]), in: directory)

    demonstration.send(SIGTERM)
    #expect(try await demonstration.wait() == 0)
  }

  /// Does what the last screen says, from the top to the bottom.
  private func paste(_ screen: String, in directory: TemporaryDirectory) async throws {
    let lines = screen.split(separator: "\n").map { $0.drop { $0 == " " } }
    let address = try #require(lines.first { $0.hasPrefix("http://localhost:") })
    let page = try await curl([String(address)])
    #expect(page.status == 200 && page.body.contains("name=\"seal\""), "\(page)")
    let password = try #require(screen.firstMatch(of: /password ([\w-]+)/)).1

    var printed: [String] = []
    for line in lines where line.hasPrefix("$ ") {
      let call = try TestSupport.ChildProcess(
        "call-\(printed.count)", ["sh", "-c", "cd / && \(line.dropFirst(2))"], in: directory,
        environment: ["CURL_HOME": "/nonexistent"])
      if line.contains(" login ") {
        var code: Substring?
        _ = try await eventually {
          code = call.errors.firstMatch(of: /code: +([A-Z-]+)\n/)?.1
          return code != nil || call.poll() != nil
        }
        let address = try #require(call.errors.firstMatch(of: /address: +(\S+)\n/), "\(call.errors)").1
        try await SigningInPerson(password: String(password), trust: directory.file("demo-ca.pem"))
          .signInDevice(at: String(address), code: String(try #require(code)))
      }
      #expect(try await call.wait() == 0, "\(line): \(call.errors)")
      printed.append(call.output + call.errors)
    }
    let expected = [
      "200 OK", "data: {\"tick\": 5}", "403 Forbidden", "is signed in to Orders desk (desk)",
      DemoDirectory.Sample.alice, "my-orders", "# TYPE bearer_proxy_", "Sample users",
    ]
    try #require(printed.count == expected.count, "\(screen)")
    for (text, words) in zip(printed, expected) { #expect(text.contains(words)) }
  }

  @Test func `a proxy that does not start ends the demonstration with its last words`() async throws {
    let directory = try TemporaryDirectory()
    let result = try await run([
      binary("bearer-proxy-demo"), "--once", "--directory", directory.path, "--proxy", "/bin/false",
    ])
    #expect(result.status == 1)
    #expect(result.errors.contains("bearer-proxy did not become ready"))
  }

  @Test func `words become options`() throws {
    let plain = try DemoOptions([])
    #expect(!plain.endsAfterTour && !plain.isVerbose && plain.directory == nil && plain.proxyPath == nil)
    let options = try DemoOptions(["--once", "--verbose", "--directory", "d", "--proxy", "p"])
    #expect(options.endsAfterTour && options.isVerbose && options.directory == "d" && options.proxyPath == "p")
    for (words, stop) in [
      (["--once", "--help"], DemoOptions.Stop.help), (["--proxy"], .wrong("--proxy needs a value")),
      (["--twice"], .wrong("'--twice' is not an option")),
    ] {
      #expect(throws: stop) { try DemoOptions(words[...]) }
    }
  }

  @Test(arguments: [
    ("http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a"), ("a?b=1&c", "'a?b=1&c'"), ("", "''"),
    ("it's", "'it'\\''s'"),
    ("Origin: x", "'Origin: x'"),
  ]) func `words are shown as a shell wants them`(word: String, shown: String) async throws {
    #expect(word.shellWord == shown)
    #expect(try await succeed(["sh", "-c", "printf %s \(word.shellWord)"]) == word)
  }

  @Test(arguments: [
    ("", [""]), ("one two three", ["one two", "three"]), ("longer-than-all of", ["longer-than-all", "of"]),
    ("12345 78", ["12345 78"]), ("12345 789", ["12345", "789"]),
  ]) func `lines are broken between words`(text: String, lines: [String]) {
    #expect(text.inLines(of: 8) == lines)
  }
}
