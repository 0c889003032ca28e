// The request and response streams of `../shared/http-corpus`, judged by the parsers alone. If that folder is absent
// the suite is skipped, with a message.

import FoundationEssentials
import HTTP
import Testing

private struct Case: Decodable, Sendable, CustomTestStringConvertible {
  var name: String
  var raw_b64: String
  var expected: String
  var why: String
  var incomplete: Bool?
  var complete_before: Int?
  var method: String?

  var bytes: [UInt8] { Data(base64Encoded: raw_b64).map { Array($0) } ?? [] }
  var testDescription: String { name }
}

private enum Corpus {
  static let folder =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    .joined(separator: "/") + "/../shared/http-corpus/"

  static var isThere: Bool { FileManager.default.fileExists(atPath: folder + "requests.jsonl") }

  static func cases(_ file: String) throws -> [Case] {
    let data = try Data(contentsOf: URL(filePath: folder + file))
    return try data.split(separator: 0x0A).map { try JSONDecoder().decode(Case.self, from: Data($0)) }
  }
}

@Suite(.enabled(if: Corpus.isThere, "../shared/http-corpus is not beside this package"))
struct CorpusTests {
  /// Verdicts that only the proxy can reach, by name. None at present: messages that the parsers accept are
  /// unambiguous.
  static let leftToTheProxy: Set<String> = []

  @Test(arguments: [("requests.jsonl", 402), ("responses.jsonl", 100), ("injection.jsonl", 26)])
  func `the corpus is all there`(file: String, count: Int) throws {
    #expect(try Corpus.cases(file).count >= count)
  }

  @Test func `every request stream to be rejected is refused or ends inside a message`() throws {
    for entry in try Corpus.cases("requests.jsonl") where entry.expected == "reject" {
      let reading = StreamReading(requests: entry.bytes)
      let complete = entry.complete_before ?? 0
      if Self.leftToTheProxy.contains(entry.name) { continue }
      #expect(reading.methods.count <= complete, "\(entry.name): \(entry.why)")
      #expect(reading.end != .clean, "\(entry.name): \(entry.why)")
      if entry.incomplete != true { #expect(reading.end != .inside, "\(entry.name): \(entry.why)") }
    }
  }

  @Test(arguments: ["requests.jsonl", "injection.jsonl"])
  func `every request stream to be accepted is read to its end`(file: String) throws {
    for entry in try Corpus.cases(file) where entry.expected == "accept" {
      let reading = StreamReading(requests: entry.bytes)
      #expect(reading.end == .clean, "\(entry.name): \(entry.why)")
      #expect(reading.methods.count == entry.complete_before ?? reading.methods.count, "\(entry.name)")
    }
  }

  @Test func `a stream that may be repaired is never read as more messages than the reference reads`() throws {
    for entry in try Corpus.cases("requests.jsonl") where entry.expected == "either" {
      let reading = StreamReading(requests: entry.bytes)
      #expect(reading.methods.count <= entry.complete_before ?? 0, "\(entry.name): \(entry.why)")
    }
  }

  @Test func `no verdict on a request depends on how its bytes arrive`() throws {
    for entry in try Corpus.cases("requests.jsonl") {
      let bytes = entry.bytes
      #expect(Feeding.request(bytes, .whole).agrees(with: Feeding.request(bytes, .byteByByte)), "\(entry.name)")
    }
  }

  @Test func `response heads to be rejected are refused and those to be accepted are read`() throws {
    for entry in try Corpus.cases("responses.jsonl") {
      var parser = ResponseHeadParser()
      var head = ResponseHead()
      let progress = parser.parse(entry.bytes.span, into: &head, limits: HeadLimits())
      switch (entry.expected, progress) {
      case ("accept", .complete), ("reject", .invalid), ("either", _), ("truncated", _): break
      case ("reject", .complete) where entry.why == "chunk-size": break
      default: Issue.record("\(entry.name): \(entry.why): \(progress)")
      }
    }
  }
}
