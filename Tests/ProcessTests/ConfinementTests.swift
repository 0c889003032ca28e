// The rights that a serving process has given up.

import TestSupport
import Testing

@Suite struct ConfinementTests {
  /// Runs the process that tries; its lines by attempt.
  /// - Parameter programs: what may still be run.
  private func attempts(_ programs: [String] = []) async throws -> [String: String] {
    let directory = try TemporaryDirectory()
    var places: [String] = []
    for name in ["inside", "outside"] {
      let place = directory.file(name)
      try await succeed(["mkdir", place])
      try await succeed(["touch", "\(place)/old", "\(place)/kept"])
      try await succeed(["cp", "/bin/true", "\(place)/program"])
      places.append(place)
    }
    let output = try await succeed([try binary("confined-process")] + places + programs)
    return Dictionary(
      uniqueKeysWithValues: output.split(separator: "\n").compactMap { line in
        line.lastIndex(of: " ").map { (String(line[..<$0]), String(line[line.index(after: $0)...])) }
      })
  }

  @Test func `files change in the given directories only, and no program is run`() async throws {
    let attempts = try await attempts()
    guard attempts.keys.contains(where: { $0.contains("full") }) else {
      // A kernel without Landlock: `run` says so in its log.
      #expect(attempts.keys.contains { $0.contains("withoutLandlock") } || attempts["confinement"] == "withoutLandlock")
      return
    }
    for what in [
      "make", "rename", "truncate", "read", "write", "append", "link to", "write through a link", "make a directory",
      "make a link", "make a pipe", "make a socket", "remove",
    ] {
      #expect(attempts["\(what) inside"] == "0", "\(what)")
      // A link from one directory to the other is one between two file systems.
      let denied = what == "read" ? ["0"] : what == "link to" ? ["13", "18"] : ["13"]
      #expect(denied.contains(attempts["\(what) outside", default: "not tried"]), "\(what): \(attempts)")
    }
    #expect(attempts["execute"] == "13" && attempts["execute inside"] == "13" && attempts["discard"] == "13")
  }

  @Test func `with a command, its program and the system's may be run, and no other`() async throws {
    let attempts = try await attempts(["/usr", "/bin", "/lib", "/lib64"])
    guard attempts.keys.contains(where: { $0.contains("full") }) else { return }
    // Success says nothing: the program took the place of the one that would.
    #expect(attempts["execute"] == nil)
    // The process may not run a file that it may write.
    #expect(attempts["make inside"] == "0" && attempts["execute inside"] == "13")
    #expect(attempts["make outside"] == "13" && attempts["discard"] == "0")
  }

  @Test func `a secret is in memory until it is released, and not afterwards`() async throws {
    let output = try await succeed([try binary("confined-process"), "secrets"])
    #expect(
      output.split(separator: "\n") == [
        "plain before 2", "many before 100", "plain without the first 1", "plain after 0", "many after 0",
        "kept after 1",
      ])
  }

  @Test func `a process ends in good order while its threads use OpenSSL`() async throws {
    for _ in 0..<20 { try await succeed([try binary("confined-process"), "exit"]) }
  }
}
