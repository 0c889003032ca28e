// For each reason to refuse a message there is a row that provokes exactly it. The parsers' suites feed their rows
// whole and byte by byte, and expect the row's reason; this suite finds reasons without a row.

import HTTP
import Testing

/// The reasons without their payloads, which the compiler can list. A new one does not compile until it is here, and
/// then fails until it has its row.
private enum RequestReason: String, CaseIterable {
  case requestLine, method, target, targetTooLong, userInformation, version, versionUnsupported, lineEnd, emptyLines,
    field
  case headTooLarge, hostMissing, hostRepeated, hostInvalid, hostDisagrees, connectionOptions

  init(_ error: RequestHeadError) {
    switch error {
    case .requestLine: self = .requestLine
    case .method: self = .method
    case .target: self = .target
    case .targetTooLong: self = .targetTooLong
    case .userInformation: self = .userInformation
    case .version: self = .version
    case .versionUnsupported: self = .versionUnsupported
    case .lineEnd: self = .lineEnd
    case .emptyLines: self = .emptyLines
    case .field: self = .field
    case .headTooLarge: self = .headTooLarge
    case .hostMissing: self = .hostMissing
    case .hostRepeated: self = .hostRepeated
    case .hostInvalid: self = .hostInvalid
    case .hostDisagrees: self = .hostDisagrees
    case .connectionOptions: self = .connectionOptions
    }
  }
}

private enum ResponseReason: String, CaseIterable {
  case statusLine, versionUnsupported, statusCode, reason, lineEnd, field, headTooLarge, connectionOptions

  init(_ error: ResponseHeadError) {
    switch error {
    case .statusLine: self = .statusLine
    case .versionUnsupported: self = .versionUnsupported
    case .statusCode: self = .statusCode
    case .reason: self = .reason
    case .lineEnd: self = .lineEnd
    case .field: self = .field
    case .headTooLarge: self = .headTooLarge
    case .connectionOptions: self = .connectionOptions
    }
  }
}

private enum TrailerReason: String, CaseIterable {
  case field, tooLarge

  init(_ error: TrailerError) {
    switch error {
    case .field: self = .field
    case .tooLarge: self = .tooLarge
    }
  }
}

@Suite struct RefusalRowTests {
  /// All reasons as the rows spell them.
  private static func spelt(_ reasons: [String], without impossible: Set<FieldSyntaxError> = []) -> Set<String> {
    Set(
      reasons.flatMap { reason in
        reason != "field"
          ? [reason]
          : FieldSyntaxError.allCases.filter { !impossible.contains($0) }.map { "field(HTTP.FieldSyntaxError.\($0))" }
      })
  }

  @Test func `each reason to refuse a request head has its row`() {
    let rows = RequestHeadParserTests.faults.map(\.expected) + RequestHeadParserTests.limitRows.map(\.1)
    let missing = Self.spelt(RequestReason.allCases.map(\.rawValue)).subtracting(rows)
    #expect(missing.isEmpty)
    #expect(RequestReason(.field(.name)) == .field)
  }

  @Test func `each reason to refuse a response head has its row`() {
    let limits = ResponseHeadParserTests.limitRows.compactMap { row in
      if case .invalid(let error) = row.1 { error } else { nil }
    }
    let rows = ResponseHeadParserTests.faults.map(\.expected) + limits
    // White space before a response's colon is removed (RFC 9112 §5.1); a row shows it.
    let missing = Self.spelt(ResponseReason.allCases.map(\.rawValue), without: [.spaceBeforeColon]).subtracting(rows)
    #expect(missing.isEmpty)
    #expect(ResponseReason(.field(.name)) == .field)
  }

  @Test func `each reason to refuse a trailer section has its row`() {
    let missing = Self.spelt(TrailerReason.allCases.map(\.rawValue)).subtracting(TrailerParserTests.faults.map(\.1))
    #expect(missing.isEmpty)
    #expect(TrailerReason(.field(.name)) == .field)
  }

  @Test func `each reason to refuse a framing, a chunk or a path has its row`() {
    let framings = Set((BodyFramingTests.faults + BodyFramingTests.oldFaults).map(\.error))
    #expect(framings == Set(FramingError.allCases))
    let chunks = Set((ChunkedDecoderTests.faults + ChunkedDecoderTests.longFaults).map(\.error))
    #expect(chunks == Set(ChunkError.allCases))
    // Only the route table knows other routes; its rows have this reason.
    let paths = Set(PathError.allCases.map { "\($0)" }).subtracting(["otherRoute"])
    #expect(paths.subtracting(NormalPathTests.rows.map(\.normal)).isEmpty)
  }
}
