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
    var process: StartedProcess
    do throws(SystemError) {
      process = try StartedProcess(self)
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
private struct StartedProcess {
  private let identifier: pid_t
  /// Its output and its errors; -1 for one that is closed.
  private var ends: [Int32]

  init(_ command: ExternalCommand) throws(SystemError) {
    guard let program = command.words.first else { throw SystemError("posix_spawn", ENOENT) }
    var output: [Int32] = [-1, -1]
    var errors: [Int32] = [-1, -1]
    guard csystem_pipe(&output) == 0 else { throw SystemError("pipe") }
    guard csystem_pipe(&errors) == 0 else {
      let error = SystemError("pipe")
      for end in output { close(end) }
      throw error
    }
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO)
    // Our own descriptors are not inherited; those that we were started with might be.
    csystem_inherit_no_descriptors()
    // Ignored and blocked signals are inherited.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD] { sigaddset(&signals, signal) }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    posix_spawnattr_setflags(
      &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP))
    let arguments = command.words.map { strdup($0) } + [nil]
    let variables = command.environment.map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process = pid_t()
    let number = posix_spawn(&process, program, &actions, &attributes, arguments, variables)
    for end in [output[1], errors[1]] { close(end) }
    guard number == 0 else {
      for end in [output[0], errors[0]] { close(end) }
      throw SystemError("posix_spawn", number)
    }
    identifier = process
    ends = [output[0], errors[0]]
  }

  /// True if the program itself has ended. Its children may still run and hold the pipes.
  var hasEnded: Bool {
    var found = siginfo_t()
    return waitid(P_PID, id_t(identifier), &found, WEXITED | WNOHANG | WNOWAIT) == 0 && found.si_signo == SIGCHLD
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
    kill(-identifier, SIGKILL)
    for end in ends where end >= 0 { close(end) }
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    return ProgramEnd(status)
  }
}
