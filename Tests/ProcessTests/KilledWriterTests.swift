// Writers killed at any moment: the file stays a cache, and holds every token that a writer was told is in it.
// BEARER_PROXY_SOAK=COUNT makes COUNT renewals of it; Tests/soak does that.

import FoundationEssentials
import Glibc
import TestSupport
import Testing
import Tokens

@Suite(.timeLimit(.minutes(30)))
struct KilledWriterTests {
  /// One of several people whose tokens a process renews until it is killed, and again.
  fileprivate struct Victim {
    let person: SignedInPerson
    var process: ChildProcess
    var dies: ContinuousClock.Instant
    var lives = 1
    /// The newest generation that a process said is in the file.
    var acknowledged = -1
  }

  @Test func `a kill at a random moment tears nothing and loses nothing`() async throws {
    let renewals = ProcessInfo.processInfo.environment["BEARER_PROXY_SOAK"].flatMap { Int($0) } ?? 400
    let directory = try TemporaryDirectory()
    let path = directory.file("cache.json")
    func start(_ person: SignedInPerson, _ life: Int) throws -> ChildProcess {
      try ChildProcess(
        "\(person.uid)-\(life)", [binary("cache-writer"), "refresh", path, person.uid, "1000000"], in: directory)
    }
    func someTime() -> ContinuousClock.Instant { .now + .milliseconds(Int.random(in: 5...600)) }

    var victims = try (0..<4).map { index in
      let person = SignedInPerson("person\(index)")
      return Victim(person: person, process: try start(person, 0), dies: someTime())
    }
    var kills = 0
    while kills < 12 || victims.map(\.acknowledged).reduce(0, +) < renewals {
      for index in victims.indices where victims[index].dies < .now {
        let victim = victims[index]
        victim.process.send(SIGKILL)
        _ = try await victim.process.wait()
        kills += 1
        victims[index].note(victim.process.output)
        // No retry here: every reader finds a whole cache.
        let document = try CacheDocument(text: Array(textOfFile(path).utf8))
        for victim in victims where victim.acknowledged >= 0 {
          let generation = try #require(victim.person.generation(in: document), "\(victim.person.uid) is gone")
          #expect(generation >= victim.acknowledged)
          #expect(document.refreshTokens(victim.person.query).count == 1)
        }
        victims[index].process = try start(victim.person, victim.lives)
        victims[index].lives += 1
        victims[index].dies = someTime()
      }
      try await Task.sleep(for: .milliseconds(5))
    }
    for victim in victims {
      victim.process.send(SIGKILL)
      _ = try await victim.process.wait()
      #expect(!victim.process.output.contains("failed"), "\(victim.process.output)")
    }
    // A last writer finds its way past whatever the killed ones left, and leaves nothing.
    let last = try ChildProcess("last", [binary("cache-writer"), "add", path, "last", "1"], in: directory)
    #expect(try await last.wait() == 0, "\(last.output)")
    let remains = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter {
      $0.contains("cache.json")
    }
    #expect(remains == ["cache.json"])
  }
}

extension KilledWriterTests.Victim {
  /// Takes note of what a process said before it was killed.
  fileprivate mutating func note(_ output: String) {
    // A process that says a number has been told that it is in the file.
    for line in output.split(separator: "\n") { acknowledged = max(acknowledged, Int(line) ?? -1) }
  }
}
