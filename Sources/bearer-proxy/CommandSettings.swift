// Owns what the commands about people have in common: the settings they read, the cache they open, how they say no.

import Configuration
import HTTP
import HTTPClient
import Identity
import Tokens

/// What a command says, and how it ends.
struct CommandAnswer: Equatable {
  var text: String
  var status: ExitStatus

  /// A wrong command line or configuration.
  static func usage(_ message: String) -> CommandAnswer {
    CommandAnswer(text: "bearer-proxy: error: \(message)\n", status: .usage)
  }

  /// A try that failed. The message may quote others; `cure` is a line of ours, or empty.
  static func failure(_ message: String, _ status: ExitStatus = .failed, cure: String = "") -> CommandAnswer {
    CommandAnswer(text: "bearer-proxy: error: \(message.printable(limit: 4000))\n\(cure)", status: status)
  }

  /// Where the cache cannot be read. Why is said when it is opened.
  static var unknown: CommandAnswer { failure("the token cache cannot be read, so who is signed in is not known") }

  /// Says it where it belongs.
  func perform() -> ExitStatus {
    if status == .done { say(text) } else { complain(text) }
    return status
  }
}

/// Opens the cache of a configuration for one command: tests bring one in memory.
typealias OpenCache = @Sendable (CacheSettings) async -> any TokenCacheStore

/// Opens the cache that the settings name. What is wrong with a file that is there is said at once, for the command then shows less
/// than there may be.
let openCommandCache: OpenCache = { settings in
  await openCache(settings) { event in
    guard case .failed(let error, _, isNews: true) = event, let place = settings.place else { return }
    complain("bearer-proxy: warning: \(error.description(path: place))\n")
  }
}

extension Application {
  /// The application for work on the cache alone: its provider is out of reach.
  init(offline settings: ApplicationSettings) {
    self.init(settings) { request throws(FetchError) in throw .closed(host: request.url.host) }
  }
}
