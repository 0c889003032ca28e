// A program that is run for its output: without a shell, in a process group of its own that ends with it, and within a
// time limit.

package import Bytes
internal import CSystem
internal import Glibc

package struct ExternalCommand: Sendable, Hashable {
  /// The program's path, then its arguments.
  package var words: [String]
  /// `NAME=value` each. Nothing of this process's environment is inherited.
  package var environment: [String]

  package init(_ words: [String], environment: [String]) {
    self.words = words
    self.environment = environment
  }

  /// Bytes of its errors that are kept.
  private static let errorLimit = 4096

  /// Runs it with an empty standard input, and waits without blocking a thread of tasks.
  /// - Parameters:
  ///   - limit: time for the program and its children; then all are killed.
  ///   - outputLimit: maximum bytes of output.
  package func run(within limit: TimeSpan, outputLimit: Int) async throws(ExternalCommandError) -> [UInt8] {
    // One queue for each run: a command that hangs delays no other.
    try await FileQueue("command").run { result(within: limit, outputLimit) }.get()
  }

  private func result(within limit: TimeSpan, _ outputLimit: Int) -> Result<[UInt8], ExternalCommandError> {
    let deadline = MonotonicTime.now + limit
    var process: RunningCommand
    do throws(SystemError) {
      process = try RunningCommand(self)
    } catch {
      return .failure(.notStarted(error))
    }
    var (output, errors): ([UInt8], [UInt8]) = ([], [])
    var failure: ExternalCommandError?
    while failure == nil {
      // Before the pipes are read: the output from before its end is there then.
      let hasEnded = process.hasEnded
      let isOver = process.read(waiting: !hasEnded) { bytes, isOutput in
        if isOutput { output += bytes } else { errors += bytes.prefix(max(Self.errorLimit - errors.count, 0)) }
      }
      if output.count > outputLimit { failure = .tooLong(limit: outputLimit) }
      if hasEnded, isOver || failure != nil { break }
      if failure == nil, MonotonicTime.now >= deadline { failure = .timedOut(limit) }
    }
    let end = process.end()
    if let failure { return .failure(failure) }
    if case .exited(0) = end { return .success(output) }
    return .failure(.failed(end, errors: errors))
  }
}

/// A run without a usable output.
package enum ExternalCommandError: Error, Sendable, Hashable {
  case notStarted(SystemError)
  /// It exceeded its time, and was killed.
  case timedOut(TimeSpan)
  /// It exceeded its output, and was killed.
  case tooLong(limit: Int)
  /// It ended with a failure; the beginning of its standard error.
  case failed(ProgramEnd, errors: [UInt8])
}

/// A running program with our ends of its pipes.
private struct RunningCommand {
  private let program: StartedProgram
  /// Its output and its errors; -1 for one that is closed.
  private var ends: [Int32]

  init(_ command: ExternalCommand) throws(SystemError) {
    var output: [Int32] = [-1, -1]
    var errors: [Int32] = [-1, -1]
    guard csystem_pipe(&output) == 0 else { throw SystemError("pipe") }
    guard csystem_pipe(&errors) == 0 else {
      let error = SystemError("pipe")
      for end in output { close(end) }
      throw error
    }
    ends = [output[0], errors[0]]
    let theirs = [output[1], errors[1]]
    defer { for end in theirs { close(end) } }
    // Our own descriptors are not inherited; those that we were started with might be.
    csystem_inherit_no_descriptors()
    do throws(SystemError) {
      program = try StartedProgram(command.words, environment: command.environment, outputs: theirs, group: .own)
    } catch {
      for end in ends { close(end) }
      throw error
    }
  }

  /// True if the program itself has ended. Its children may still run and hold the pipes.
  var hasEnded: Bool {
    var found = siginfo_t()
    let result = waitid(P_PID, id_t(program.identifier), &found, WEXITED | WNOHANG | WNOWAIT)
    return result == 0 && found.si_signo == SIGCHLD
  }

  /// Passes on the bytes that are ready, and true for those of the output. Returns true if there are no more now.
  /// - Parameter waiting: waits a moment for bytes.
  mutating func read(waiting: Bool, _ take: (ArraySlice<UInt8>, Bool) -> Void) -> Bool {
    var polled = ends.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    let areClosed = ends.allSatisfy { $0 < 0 }
    // Short: if another process holds the pipes, or the program closed them, its end is no event of the pipes.
    let count = poll(&polled, nfds_t(polled.count), waiting ? (areClosed ? 5 : 50) : 0)
    guard count > 0 else { return count == 0 }
    for index in ends.indices where polled[index].revents != 0 {
      var piece = [UInt8](repeating: 0, count: 16 * 1024)
      let count = Glibc.read(ends[index], &piece, piece.count)
      if count > 0 { take(piece[..<count], index == 0) }
      if count == 0 || (count < 0 && errno != EINTR) {
        close(ends[index])
        ends[index] = -1
      }
    }
    return false
  }

  /// Kills the rest of the group, and returns the program's own end.
  mutating func end() -> ProgramEnd {
    // Before the program is waited for: until then no other process can get its number.
    kill(-program.identifier, SIGKILL)
    for end in ends where end >= 0 { close(end) }
    var status: Int32 = 0
    while waitpid(program.identifier, &status, 0) < 0, errno == EINTR {}
    return ProgramEnd(status)
  }
}
