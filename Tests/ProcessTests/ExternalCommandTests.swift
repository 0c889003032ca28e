// Programs that are run for what they print: what they get, what is told of their failures, and that nothing of them is
// left.

import Bytes
import Glibc
import TestSupport
import Testing

@testable import Platform

@Suite(.timeLimit(.minutes(2))) struct ExternalCommandTests {
  private static func shell(
    _ script: String, environment: [String] = ["PATH=/usr/bin:/bin"], within limit: TimeSpan = .seconds(60)
  ) async -> Result<String, ExternalCommandError> {
    do throws(ExternalCommandError) {
      let command = ExternalCommand(["/bin/sh", "-c", script], environment: environment)
      return .success(String(decoding: try await command.run(within: limit, outputLimit: 4096), as: UTF8.self))
    } catch {
      return .failure(error)
    }
  }

  @Test func `a program's output is taken whole, and its errors are not in it`() async {
    #expect(await Self.shell("printf one; printf two >&2; printf three") == .success("onethree"))
    #expect(await Self.shell("head -c 4096 /dev/zero | tr '\\0' x") == .success(String(repeating: "x", count: 4096)))
  }

  @Test func `a program gets its own variables and nothing else of ours`() async {
    setenv("BEARER_PROXY_OTHER_SECRET", "hush", 1)
    let seen = await Self.shell("/usr/bin/env; cat", environment: ["A=b c"])
    guard case .success(let text) = seen else {
      Issue.record("\(seen)")
      return
    }
    // The shell adds its own working directory.
    let names = text.split(separator: "\n").compactMap { $0.split(separator: "=").first }
    #expect(Set(names).subtracting(["PWD", "_", "SHLVL", "OLDPWD"]) == ["A"])
    #expect(text.contains("A=b c\n"))
    // Nor our descriptors: 0 to 2, and the one that lists them.
    #expect(await Self.shell("ls /proc/self/fd | wc -l").trimmed == .success("4"))
  }

  @Test func `a failure has its exit status or signal, and the beginning of the errors`() async {
    #expect(
      await Self.shell("echo no >&2; exit 3") == .failure(.failed(.exited(3), errors: Array("no\n".utf8))))
    #expect(await Self.shell("kill -9 $$") == .failure(.failed(.killed(signal: 9), errors: [])))
    guard case .failure(.failed(.exited(1), let errors)) = await Self.shell("head -c 100000 /dev/zero >&2; exit 1")
    else {
      Issue.record("no failure")
      return
    }
    #expect(errors.count == 4096)
    #expect(
      await #expect(throws: ExternalCommandError.self) {
        try await ExternalCommand(["/nowhere/program"], environment: []).run(within: .seconds(60), outputLimit: 1)
      } == .notStarted(SystemError("posix_spawn", ENOENT)))
  }

  @Test func `a program that prints too much, or runs too long, is killed`() async {
    #expect(await Self.shell("head -c 4097 /dev/zero; sleep 1000") == .failure(.tooLong(limit: 4096)))
    #expect(await Self.shell("while :; do echo x; done") == .failure(.tooLong(limit: 4096)))
    #expect(await Self.shell("sleep 1000", within: .milliseconds(50)) == .failure(.timedOut(.milliseconds(50))))
    // One that ignores polite signals, and one that has closed its output.
    #expect(
      await Self.shell("trap '' TERM INT; sleep 1000", within: .milliseconds(50))
        == .failure(.timedOut(.milliseconds(50))))
    #expect(
      await Self.shell("exec >&- 2>&-; sleep 1000", within: .milliseconds(50)) == .failure(.timedOut(.milliseconds(50)))
    )
  }

  @Test func `processes that a command leaves behind are killed, and not awaited`() async throws {
    let printed = try await Self.shell("sleep 1000 & echo $!").get()
    let left = try #require(pid_t(printed.trimmed))
    // Dead, perhaps not yet reaped by the process that inherited it.
    #expect(
      try await eventually {
        kill(left, 0) != 0 || textOfFile("/proc/\(left)/stat").contains(") Z ")
          || textOfFile("/proc/\(left)/stat").isEmpty
      })
  }

  @Test func `a program that others could replace is not one to run`() async throws {
    let directory = try TemporaryDirectory()
    let program = try directory.write("#!/bin/sh\n", to: "program")
    func problem(_ mode: mode_t) -> String? {
      chmod(program, mode)
      return OtherWriters.problem(ofProgram: program)
    }
    #expect(problem(0o700) == nil && problem(0o755) == nil && OtherWriters.problem(ofProgram: "/bin/sh") == nil)
    #expect(problem(0o702) == "can be written by every user of this machine (mode 0702); chmod o-w helps")
    #expect(problem(0o600) == "cannot be run: Permission denied")
    #expect(OtherWriters.problem(ofProgram: "/nowhere/program") == "cannot be run: No such file or directory")
    #expect(OtherWriters.problem(ofProgram: directory.path) == "is not a regular file")
    chmod(program, 0o755)
    chmod(directory.path, 0o777)
    #expect(OtherWriters.problem(ofProgram: program)?.hasPrefix("is below \(directory.path), which can") == true)
    chmod(directory.path, 0o755)
    if geteuid() == 0 {
      chown(program, 0, 12345)
      #expect(problem(0o775) == "can be written by group 12345 (mode 0775); chmod g-w helps")
      chown(program, 12345, 0)
      #expect(problem(0o755)?.hasPrefix("belongs to another user (uid 12345), who can change it; give it to") == true)
    }
  }
}

extension Result where Success == String {
  fileprivate var trimmed: Result<String, Failure> { map(\.trimmed) }
}

extension String {
  fileprivate var trimmed: String { String(drop { $0.isWhitespace }.prefix { !$0.isWhitespace }) }
}
