import Bytes
import DemoProvider
import FoundationEssentials
import Glibc
import Platform

/// The exchanges of the services, in order: collected during the tour, shown at once after it.
final class ExchangeLog: Sendable {
  private let pending = Locked<[DemoExchange]?>([])
  private let terminal: Terminal

  init(_ terminal: Terminal) { self.terminal = terminal }

  func append(_ exchange: DemoExchange) {
    pending.withLock { $0?.append(exchange) ?? terminal.indented(exchange.line, .quiet) }
  }

  /// Removes and returns the exchanges since the last call.
  func take() -> [DemoExchange] {
    pending.withLock { pending in
      defer { pending = [] }
      return pending ?? []
    }
  }

  /// From now on, shows every exchange as it happens.
  func goLive() { pending.withLock { $0 = nil } }
}

extension DemoExchange {
  /// The exchange as a line. The tenant's identifier would only make the path long.
  var line: String {
    let path = path.replacing(DemoDirectory.Sample.tenant, with: "…")
    return "\(service.padded(8)) saw \(method) \(path) → \(status)\(note.isEmpty ? "" : "  (\(note))")"
  }

  /// The exchange among others on a line. The provider's long paths differ in their ends.
  var words: String {
    switch service {
    case "proxy": "proxy → \(status), \(note)"
    case "provider": "provider …/\(path.split(separator: "/").last ?? "") → \(status)"
    default: "\(service) \(path) → \(status)"
    }
  }

  /// True if the provider issued a token.
  var isToken: Bool { path.hasSuffix("/token") && status == 200 }
}

/// The records of requests in the proxy's log, each read once.
struct AccessRecords {
  private var linesRead = 0

  /// The newest record since the last call of a request with `status`; 0 is any. The proxy writes it after the
  /// response, so this waits for up to a second.
  mutating func next(status: Int) -> DemoExchange? {
    for _ in 0..<50 {
      // The text after the last line end is not complete yet.
      let lines = textOfFile(DemoPlaces.log).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      for line in lines.dropFirst(linesRead).reversed() {
        guard let record = JSONValue(json: Array(line.utf8))?.members, record["message"]?.text == "request",
          let method = record["method"]?.text, let path = record["path"]?.text, let time = record["total_ms"]?.seconds,
          let seen = record["status"]?.seconds, status == 0 || seen == status
        else { continue }
        linesRead = lines.count
        let source = record["token_source"]?.text?.replacing("_", with: " ")
        let token = source.map { $0 == "none" ? ", no token" : ", token from \($0)" } ?? ""
        return DemoExchange(service: "proxy", method, path, status: Int(seen), note: "\(time) ms\(token)")
      }
      usleep(20_000)
    }
    return nil
  }
}

/// The text of a file; empty if there is none.
func textOfFile(_ path: String) -> String {
  String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
}
