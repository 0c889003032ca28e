// Reading the proxy's own log while it grows: one access record for each request it served.

import FoundationEssentials
import Glibc

/// What the proxy logged of one request.
struct AccessRecord: Decodable {
  var message: String
  var method: String?
  var path: String?
  var status: Int?
  var total_ms: Double?
  var token_source: String?

  /// The record as a line.
  var line: String {
    let source = token_source.map { ", token: \($0)" } ?? ""
    return "\("proxy".padded(8)) saw \(method ?? "") \(path ?? "") → \(status ?? 0)  (\(total_ms ?? 0) ms\(source))"
  }

  /// The record among others on a line.
  var words: String {
    let source = token_source.map { $0 == "none" ? ", no token" : ", token from \($0.replacing("_", with: " "))" } ?? ""
    return "proxy → \(status ?? 0), \(Int(total_ms ?? 0)) ms\(source)"
  }
}

/// The access records of a log file, read once each.
struct AccessRecords {
  private let path: String
  private var linesRead = 0

  init(path: String) {
    self.path = path
  }

  /// The newest record since the last call, of a request that ended with `status` (0: with any). The proxy writes it
  /// after the answer, so this waits for up to a second.
  mutating func next(status: Int) -> AccessRecord? {
    for _ in 0..<50 {
      let text = String(decoding: FileManager.default.contents(atPath: path) ?? Data(), as: UTF8.self)
      // What follows the last line end is not complete yet.
      let lines = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      let fresh = lines.dropFirst(linesRead).compactMap(Self.record)
      if let record = fresh.last(where: { status == 0 || $0.status == status }) {
        linesRead = lines.count
        return record
      }
      usleep(20_000)
    }
    return nil
  }

  private static func record(_ line: some StringProtocol) -> AccessRecord? {
    do {
      let record = try JSONDecoder().decode(AccessRecord.self, from: Data(line.utf8))
      return record.message == "request" ? record : nil
    } catch {
      // Not every line of the log is a record of a request.
      return nil
    }
  }
}
