internal import FoundationEssentials
package import Glibc

/// The end of a program that this process started.
package enum ProgramEnd: Sendable, Hashable {
  case exited(Int32)
  case killed(signal: Int32)

  /// Reads a status of waitpid(2).
  init(_ status: Int32) {
    let signal = status & 0x7F
    self = signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
  }

  /// The status by which shells name it.
  package var status: Int32 {
    switch self {
    case .exited(let status): status
    case .killed(let signal): 128 + signal
    }
  }
}

/// A program that this process started, without a shell.
package final class StartedProgram: Sendable {
  /// The terminal's signals reach a program in this process's group, and none in another session.
  package enum Group: Int16 {
    case shared = 0
    /// `POSIX_SPAWN_SETPGROUP`.
    case own = 0x02
    /// `POSIX_SPAWN_SETSID`, which glibc's headers show to GNU sources only.
    case ownSession = 0x80
  }

  package let identifier: pid_t
  private let known = Locked<ProgramEnd?>(nil)

  /// Starts a program, which is looked for in `PATH` unless its name is a path.
  /// - Parameters:
  ///   - words: the program, then its arguments.
  ///   - environment: `NAME=value` each; nil: this process's.
  ///   - outputs: descriptors for its standard output and its standard error, and its standard input is empty then;
  ///     nil: it has all three of this process.
  package init(
    _ words: [String], environment: [String]? = nil, outputs: [Int32]? = nil, group: Group = .shared
  ) throws(SystemError) {
    guard let program = words.first else { throw SystemError("posix_spawn", ENOENT) }
    var actions = posix_spawn_file_actions_t()
    var attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    if let outputs {
      posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
      for (output, stream) in zip(outputs, [STDOUT_FILENO, STDERR_FILENO]) {
        posix_spawn_file_actions_adddup2(&actions, output, stream)
      }
    }
    // Ignored and blocked signals are inherited.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    for signal in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGUSR1, SIGUSR2, SIGCHLD, SIGWINCH] {
      sigaddset(&signals, signal)
    }
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) | group.rawValue)
    let arguments = words.map { strdup($0) } + [nil]
    let variables =
      (environment ?? ProcessInfo.processInfo.environment.map { "\($0)=\($1)" }).map { strdup($0) } + [nil]
    defer { for text in arguments + variables { free(text) } }
    var process = pid_t()
    let number = posix_spawnp(&process, program, &actions, &attributes, arguments, variables)
    guard number == 0 else { throw SystemError("posix_spawn", number) }
    identifier = process
  }

  /// The end of the program; nil while it runs.
  package var end: ProgramEnd? {
    known.withLock { known in
      var status: Int32 = 0
      if known == nil, waitpid(identifier, &status, WNOHANG) == identifier { known = ProgramEnd(status) }
      return known
    }
  }

  /// Sends a signal, unless the program has ended: its number may be another program's then.
  package func send(_ signal: Int32) {
    known.withLock { known in
      if known == nil { kill(identifier, signal) }
    }
  }
}

/// A program that this process runs for its user and ends with: it has the same terminal, files and working directory,
/// and gets this process's signals.
extension StartedProgram {
  package static func launch(_ words: [String], environment: [String]) throws(SystemError) -> StartedProgram {
    // Signals wait until their receiver is known.
    var (held, former) = (sigset_t(), sigset_t())
    sigemptyset(&held)
    for signal in passedOn { sigaddset(&held, signal.number) }
    sigprocmask(SIG_BLOCK, &held, &former)
    defer { sigprocmask(SIG_SETMASK, &former, nil) }
    let program = try StartedProgram(words, environment: environment)
    // Those that come before a `ProcessSignal` listens are the program's, too: they must not end this process and leave
    // the program behind. Blocking them would not do, as Dispatch unblocks all in the main thread.
    earlyReceiver = program.identifier
    for name in passedOn {
      signal(name.number) { number in
        if !StartedProgram.isOfTerminal(number) { kill(earlyReceiver, number) }
      }
    }
    return program
  }

  /// The signals that are the program's.
  package static let passedOn: [ProcessSignal.Name] = [
    .terminate, .hangUp, .userOne, .userTwo, .interrupt, .quit, .windowChanged,
  ]

  /// True if there is a program whose signals this process passes on.
  static var takesSignals: Bool { earlyReceiver != 0 }

  /// Passes a signal on, unless the terminal sends it to both.
  package func pass(_ signal: ProcessSignal.Name) {
    if !Self.isOfTerminal(signal.number) { send(signal.number) }
  }

  /// True if a terminal sends a signal to the program, too. Signal handlers call it: it allocates nothing.
  private static func isOfTerminal(_ number: Int32) -> Bool {
    (number == SIGINT || number == SIGQUIT || number == SIGWINCH) && tcgetpgrp(STDIN_FILENO) == getpgrp()
  }
}

/// The program that gets signals before a `ProcessSignal` listens. It is set by the only thread.
nonisolated(unsafe) private var earlyReceiver = pid_t(0)
