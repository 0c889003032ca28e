import Testing

@testable import Telemetry

@Suite struct TracesDocumentTests {
  private static let context = TraceContext(
    traceHigh: 0x0AF7_6519_16CD_43DD, traceLow: 0x8448_EB21_1C80_319C, span: 0x00F0_67AA_0BA9_02B7, flags: 1)

  private static func text(_ spans: [SpanRecord]) -> String {
    let document = TracesDocument(resource: [("service.name", "a \"b\""), ("n", "")], version: "1.2")
    return String(decoding: document.bytes(of: spans), as: UTF8.self)
  }

  private static func span(_ parent: SpanRecord.Parent = .none, name: String = "GET orders") -> SpanRecord {
    SpanRecord(context, parent: parent, name: name, kind: .server, start: 1_700_000_000_000_000_001, end: .max)
  }

  private static let frame = (
    #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"a \"b\""}},"#
      + #"{"key":"n","value":{"stringValue":""}}]},"scopeSpans":[{"scope":{"name":"bearer-proxy","version":"1.2"},"#
      + #""spans":["#,
    "]}]}]}"
  )

  @Test func `ids are hexadecimal, kinds numbers, times strings`() {
    #expect(
      Self.text([Self.span()])
        == Self.frame.0 + #"{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"00f067aa0ba902b7","flags":257,"#
        + #""name":"GET orders","kind":2,"startTimeUnixNano":"1700000000000000001","#
        + #""endTimeUnixNano":"18446744073709551615","attributes":[],"status":{}}"# + Self.frame.1)
  }

  @Test func `a parent, attributes and an error are told of`() {
    var span = Self.span(.remote(0xFF))
    span.kind = .client
    span.traceState = "a=1"
    span.isError = true
    span.attributes = [("a.b", .string("x\n")), ("n", .integer(-5)), ("m", .integer(.min))]
    let text = Self.text([span])
    #expect(text.contains(#""parentSpanId":"00000000000000ff","flags":769,"traceState":"a=1","#))
    #expect(
      text.contains(
        #""attributes":[{"key":"a.b","value":{"stringValue":"x\n"}},{"key":"n","value":{"intValue":"-5"}},"#
          + #"{"key":"m","value":{"intValue":"-9223372036854775808"}}],"status":{"code":2}}"#))
    #expect(Self.text([Self.span(.local(1))]).contains(#""parentSpanId":"0000000000000001","flags":257,"#))
  }

  @Test func `several spans form one document, and so do none`() {
    #expect(Self.text([]) == Self.frame.0 + Self.frame.1)
    #expect(Self.text([Self.span(), Self.span()]).split(separator: #""traceId""#).count == 3)
  }

  /// A text, and the length that is left of it.
  static let long: [(String, Int)] = [
    (String(repeating: "a", count: 1024), 1024), (String(repeating: "a", count: 1025), 1024),
    (String(repeating: "a", count: 1023) + "é", 1023), (String(repeating: "é", count: 600), 1022),
  ]

  @Test(arguments: long)
  func `a long text is cut between two characters`(text: String, count: Int) throws {
    let json = Self.text([Self.span(name: text)])
    let name = try #require(json.split(separator: #""name":""#).last?.split(separator: "\"").first)
    #expect(name.utf8.count == count && text.hasPrefix(name))
  }

  @Test func `a span ends no earlier than it begins`() {
    #expect(SpanRecord(Self.context, parent: .none, name: "", kind: .internal, start: 9, end: 3).end == 9)
  }
}

@Suite struct SpanQueueTests {
  private static func spans(_ ids: ClosedRange<UInt64>) -> [SpanRecord] {
    ids.map { id in
      SpanRecord(
        TraceContext(traceHigh: 0, traceLow: 1, span: id, flags: 1), parent: .none, name: "", kind: .internal, start: 0,
        end: 0)
    }
  }

  @Test func `batches leave in order, and the newest find no room`() {
    var queue = SpanQueue(capacity: 5, batchSize: 2)
    // True for those that complete a batch.
    let completed = [1...1, 2...3, 4...7].map { queue.add(Self.spans($0)) }
    #expect(completed == [false, true, false] && queue.count == 5)
    let dropped = [queue.takeDropped(), queue.takeDropped()]
    #expect(dropped == [2, 0])
    let batches = (1...4).map { _ in queue.take().map(\.context.span) }
    #expect(batches == [[1, 2], [3, 4], [5], []])
    let completesAgain = queue.add(Self.spans(8...9))
    #expect(completesAgain)
  }

  @Test func `a batch is no larger than the queue`() {
    #expect(SpanQueue(capacity: 3, batchSize: 9).batchSize == 3)
    #expect(SpanQueue(capacity: 0, batchSize: 0).capacity == 1)
  }
}
