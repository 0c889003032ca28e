// The words behind the program's name.

/// What the demonstration was asked to do.
enum DemoArguments: Equatable {
  case run(DemoOptions)
  /// Explain the options.
  case help
  /// Say what is wrong with the words.
  case wrong(String)

  static let helpText = """
    bearer-proxy-demo shows the proxy at work, on this machine alone.

    It starts an identity provider and a sample API over TLS, runs bearer-proxy between the API and you, walks through
    a short tour, and stays up until Ctrl-C. On a terminal, the tour waits for Enter after each part.

    Usage: bearer-proxy-demo [--once] [--verbose] [--directory DIR] [--proxy PATH]

    Options:
      --once           End after the tour; exit 1 if a step did not go as expected.
      --verbose        Show everything that the commands print, and each request that the services see.
      --directory DIR  Where keys, certificates, the configuration and the log are written. Default: a new one.
      --proxy PATH     The bearer-proxy to run. Default: the one beside this program.

    """

  init(_ words: [String]) {
    var options = DemoOptions()
    var rest = words[...]
    while let word = rest.popFirst() {
      switch word {
      case "-h", "--help":
        self = .help
        return
      case "--once": options.ending = .afterTour
      case "--verbose": options.isVerbose = true
      case "--directory", "--proxy":
        guard let value = rest.popFirst(), !value.isEmpty else {
          self = .wrong("\(word) needs a value")
          return
        }
        if word == "--proxy" { options.proxyPath = value } else { options.directory = value }
      default:
        self = .wrong("'\(word)' is not an option")
        return
      }
    }
    self = .run(options)
  }
}

/// What may be chosen.
struct DemoOptions: Equatable {
  /// When the demonstration is over.
  enum Ending {
    case afterTour
    case onInterrupt
  }

  var ending = Ending.onInterrupt
  var isVerbose = false
  var directory: String?
  var proxyPath: String?
}
