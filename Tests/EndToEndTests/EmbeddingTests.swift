// A program of another package that embeds Identity and Tokens, against the demonstration's provider. The program is
// Tests/EmbeddingExample, whose text Sources/Identity/README.md shows.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

private let example = testsDirectory + "/../.build/embedding/debug/embedding-example"

@Suite(
  .timeLimit(.minutes(5)),
  .enabled(
    if: FileManager.default.isExecutableFile(atPath: example), "Tests/run builds the package Tests/EmbeddingExample"))
struct EmbeddingTests {
  private let demo: DemoScene

  init() throws { demo = try DemoScene() }

  private func start(_ name: String, _ more: String...) throws -> ChildProcess {
    try ChildProcess(
      name,
      [
        // A line at a time, as on a terminal.
        "stdbuf", "-oL", example, DemoDirectory.Sample.desk, demo.services.issuer, demo.settings.authorityPath,
        demo.directory.file("cache.json"), "api://orders/Orders.Read",
      ] + more, in: demo.directory)
  }

  /// The code that the program shows, once it does.
  private func code(of program: ChildProcess) async throws -> String {
    _ = try await eventually { program.output.hasSuffix("\n") || program.poll() != nil }
    let line = try #require(program.output.split(separator: "\n").last, "\(program.errors)")
    try #require(line.hasPrefix("Go to \(demo.services.providerOrigin)/device and type in "))
    return String(line.split(separator: " ").last ?? "")
  }

  @Test func `a program of another package signs a person in, acquires silently, and signs them out`() async throws {
    let first = try start("first")
    try await demo.person().signInDevice(at: demo.services.providerOrigin + "/device", code: try await code(of: first))
    #expect(try await first.wait() == 0, "\(first.errors)")
    let said = "alice@contoso.example: api://orders/Orders.Read, from the"
    #expect(first.output.hasSuffix("\n\(said) identityProvider\n"))

    let second = try start("second")
    #expect(try await second.wait() == 0, "\(second.errors)")
    #expect(second.output == "\(said) cache\n")

    let third = try start("third", "sign-out")
    #expect(try await !code(of: third).isEmpty)
    #expect(![first, second, third].contains { ($0.output + $0.errors).contains("eyJ") })
  }

  @Test func `the library's page shows the program as it is`() throws {
    let program = textOfFile(testsDirectory + "/EmbeddingExample/Sources/Example.swift")
    #expect(program.split(separator: "\n").count < 40)
    #expect(textOfFile(testsDirectory + "/../Sources/Identity/README.md").contains(program))
  }
}
