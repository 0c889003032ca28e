// Owns what the process tells its parent when it ends.

/// The exit status of every command.
enum ExitStatus: Int32 {
  /// Done.
  case done = 0
  /// Tried and failed; another try may succeed. An address in use is such a failure.
  case failed = 1
  /// The command line or the configuration is wrong; nothing was started, and another try cannot succeed.
  case usage = 2
  /// A person has to sign in or consent first.
  case interactionRequired = 3
}
