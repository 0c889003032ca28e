// Owns questions at a terminal, or to a program that answers them on standard input.

import Glibc
import Network

/// Puts questions to standard error and reads lines from standard input.
struct Questioner {
  /// The answer's line without its end; nil where the input has ended. A secret one is not shown while it is typed.
  func answer(_ question: String, isSecret: Bool) -> String? {
    complain(question)
    guard isSecret, isatty(STDIN_FILENO) == 1 else { return readLine(strippingNewline: true) }
    var shown = termios()
    guard tcgetattr(STDIN_FILENO, &shown) == 0 else { return readLine(strippingNewline: true) }
    var hidden = shown
    hidden.c_lflag &= ~tcflag_t(ECHO)
    let original = shown
    // Whoever gives up here gets the terminal back as it was.
    let handlers = [ProcessSignal.Name.interrupt, .terminate].map { name in
      ProcessSignal(name) {
        var terminal = original
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &terminal)
        complain("\n")
        exit(ExitStatus.failed.rawValue)
      }
    }
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden)
    defer {
      tcsetattr(STDIN_FILENO, TCSAFLUSH, &shown)
      complain("\n")
      withExtendedLifetime(handlers) {}
      for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    }
    return readLine(strippingNewline: true)
  }
}
