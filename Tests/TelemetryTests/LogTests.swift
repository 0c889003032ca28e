import Bytes
import FoundationEssentials
import Synchronization
import Telemetry
import Testing

@Suite struct `Logs` {
  private static func lines(_ format: LogFormat, level: LogLevel = .debug, _ body: (Log) -> Void) -> [String] {
    let written = Mutex<[String]>([])
    let log = Log(
      level: level, format: format, now: { WallTime(seconds: 1_767_323_045, nanoseconds: 678_901_234) },
      write: { line in written.withLock { $0.append(String(decoding: line, as: UTF8.self)) } })
    body(log)
    return written.withLock { $0 }
  }

  @Test func `a record is a JSON object on a line`() {
    let lines = Self.lines(.json) { log in
      log.warning(
        "token request failed",
        [
          "route": .string("a \"b\"\n"), "attempt": .integer(-2), "wait_ms": .milliseconds(.microseconds(1500)),
          "retry": .boolean(true),
        ])
    }
    #expect(
      lines == [
        #"{"time":"2026-01-02T03:04:05.678Z","level":"warning","message":"token request failed","#
          + #""route":"a \"b\"\n","attempt":-2,"wait_ms":1.500,"retry":true}"# + "\n"
      ])
  }

  @Test func `a record for people quotes only what needs it`() {
    let lines = Self.lines(.text) { log in
      log.error("cannot listen", ["address": .string("[::1]:80"), "why": .string("in use"), "none": .string("")])
      log.info("ready")
    }
    #expect(
      lines == [
        "2026-01-02T03:04:05.678Z error cannot listen address=[::1]:80 why=\"in use\" none=\"\"\n",
        "2026-01-02T03:04:05.678Z info ready\n",
      ])
  }

  @Test(arguments: LogLevel.allCases)
  func `records below the level are neither written nor evaluated`(level: LogLevel) {
    func evaluated(_ field: LogLevel) -> LogValue {
      #expect(field >= level)
      return .string(field.rawValue)
    }
    let lines = Self.lines(.text, level: level) { log in
      log.debug("m", ["f": evaluated(.debug)])
      log.info("m", ["f": evaluated(.info)])
      log.warning("m", ["f": evaluated(.warning)])
      log.error("m", ["f": evaluated(.error)])
    }
    #expect(lines.count == LogLevel.allCases.count { $0 >= level })
  }

  @Test func `a record in a request's scope names the request, also from the tasks that were made there`() async {
    let written = Mutex<[String]>([])
    let log = Log(
      level: .info, format: .text, now: { WallTime(seconds: 0) },
      write: { line in written.withLock { $0.append(String(decoding: line.dropFirst(25).dropLast(), as: UTF8.self)) } })
    await RequestScope.around(RequestScope(LogRequest(requestID: "one", traceID: "t1"))) {
      log.info("in it")
      await Task { log.info("task", ["n": .integer(1)]) }.value
      log.warning("somebody else's", of: LogRequest(requestID: "two", traceID: "t2"))
      await RequestScope.around(nil) { await Task { log.info("outside") }.value }
    }
    log.info("after it")
    #expect(
      written.withLock { $0 } == [
        "info in it request_id=one trace_id=t1", "info task n=1 request_id=one trace_id=t1",
        "warning somebody else's request_id=two trace_id=t2", "info outside", "info after it",
      ])
  }

  @Test func `the level changes alone, and the format stays`() {
    let lines = Self.lines(.text, level: .error) { log in
      log.info("unheard")
      log.change(level: .info)
      log.info("heard")
    }
    #expect(lines == ["2026-01-02T03:04:05.678Z info heard\n"])
  }

  static let instants: [(Int64, UInt32, String)] = [
    (0, 0, "1970-01-01T00:00:00.000Z"), (951_782_400, 999_999_999, "2000-02-29T00:00:00.999Z"),
    (951_868_800, 1_000_000, "2000-03-01T00:00:00.001Z"), (-1, 0, "1969-12-31T23:59:59.000Z"),
    (4_107_542_399, 0, "2100-02-28T23:59:59.000Z"), (4_107_542_400, 0, "2100-03-01T00:00:00.000Z"),
    (1_735_689_599, 0, "2024-12-31T23:59:59.000Z"), (-62_167_219_200, 0, "0000-01-01T00:00:00.000Z"),
    (.max, 0, "9999-12-31T23:59:59.000Z"), (.min, 0, "0000-01-01T00:00:00.000Z"),
  ]

  @Test(arguments: instants)
  func `an instant is written in RFC 3339`(seconds: Int64, nanoseconds: UInt32, expected: String) {
    let written = Mutex("")
    let log = Log(
      level: .info, format: .text, now: { WallTime(seconds: seconds, nanoseconds: nanoseconds) },
      write: { line in written.withLock { $0 = String(decoding: line, as: UTF8.self) } })
    log.info("x")
    #expect(written.withLock { $0 } == expected + " info x\n")
  }
}

@Suite struct `Access records` {
  private static let instant = WallTime(seconds: 0)

  private static func append(
    _ record: AccessRecord, to writer: inout AccessRecordWriter, method: [UInt8] = [], host: [UInt8] = [],
    path: [UInt8] = [], caller: [UInt8] = [], account: [UInt8] = [], subject: [UInt8] = [], requestID: [UInt8] = [],
    traceID: [UInt8] = []
  ) {
    writer.append(
      record, at: instant, method: method.span, host: host.span, path: path.span, caller: caller.span,
      account: account.span, subject: subject.span, requestID: requestID.span, traceID: traceID.span)
  }

  private static func drained(_ writer: inout AccessRecordWriter) -> String {
    var text = ""
    writer.drain { text = String(decoding: $0, as: UTF8.self) }
    return text
  }

  private static var full: AccessRecord {
    var record = AccessRecord()
    record.route = 1
    record.status = 200
    record.bytesIn = 12
    record.bytesOut = 34
    record.total = 12_345_678
    record.token = 999
    record.upstream = 7_000_000
    record.tokenSource = .identityProvider
    return record
  }

  @Test func `a request leaves its numbers and texts, without the query`() {
    var writer = AccessRecordWriter(format: .json, routes: ["a", "b"])
    Self.append(
      Self.full, to: &writer, method: Array("GET".utf8), host: Array("api.local".utf8),
      path: Array("/orders/7?token=secret".utf8), caller: Array("127.0.0.1".utf8), requestID: Array("0af7".utf8),
      traceID: Array("4bf9".utf8))
    #expect(
      Self.drained(&writer)
        == #"{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"request","route":"b","method":"GET","#
        + #""host":"api.local","path":"/orders/7","status":200,"bytes_in":12,"bytes_out":34,"total_ms":12.345,"#
        + #""token_ms":0.000,"upstream_ms":7.000,"token_source":"identity_provider","outcome":"completed","#
        + #""caller":"127.0.0.1","request_id":"0af7","trace_id":"4bf9"}"# + "\n")
    #expect(writer.count == 0)
  }

  @Test func `a record says whose token was sent, and whose the caller's is`() {
    var writer = AccessRecordWriter(format: .text, routes: [])
    var record = AccessRecord()
    record.credential = .account
    Self.append(
      record, to: &writer, caller: Array("127.0.0.1".utf8), account: Array("alice@contoso.com".utf8),
      subject: Array("a b".utf8))
    #expect(
      Self.drained(&writer).hasSuffix(
        " credential=account account=alice@contoso.com outcome=completed caller=127.0.0.1 caller_subject=\"a b\"\n"))
  }

  @Test func `absent members are left out`() {
    var writer = AccessRecordWriter(format: .text, routes: [])
    var record = AccessRecord()
    record.outcome = .answeredByProxy
    record.status = 404
    Self.append(record, to: &writer, method: Array("GET".utf8), path: Array("/a b".utf8))
    Self.append(record, to: &writer, path: Array("?".utf8))
    #expect(
      Self.drained(&writer) == """
        1970-01-01T00:00:00.000Z info request method=GET path="/a b" status=404 bytes_in=0 bytes_out=0 \
        total_ms=0.000 token_source=none outcome=answered_by_proxy
        1970-01-01T00:00:00.000Z info request status=404 bytes_in=0 bytes_out=0 \
        total_ms=0.000 token_source=none outcome=answered_by_proxy

        """)
  }

  static let hostile: [([UInt8], String)] = [
    (Array("/\"\\\r\n\t".utf8), #"/\"\\\r\n\t"#), ([0x2F, 0x00, 0x1B, 0x7F], #"/\u0000\u001b\u007f"#),
    ([0xC2, 0x85, 0x2F], #"\u0085/"#), ([0xFF, 0x2F, 0xC3], "\u{FFFD}/\u{FFFD}"),
    ([0xE2, 0x82, 0x2F], "\u{FFFD}/"), ([0xED, 0xA0, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}"),
    ([0xC0, 0xAF], "\u{FFFD}\u{FFFD}"), ([0xF4, 0x90, 0x80, 0x80], "\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}"),
    (Array("/é€😀".utf8), "/é€😀"),
  ]

  @Test(arguments: hostile)
  func `bytes of a path cannot break the record`(path: [UInt8], expected: String) {
    var writer = AccessRecordWriter(format: .json, routes: [])
    Self.append(AccessRecord(), to: &writer, path: path)
    #expect(Self.drained(&writer).contains("\"path\":\"\(expected)\",\"status\""))
  }

  private struct Decoded: Decodable {
    var path: String
  }

  @Test func `whatever the bytes, JSON decodes to what Swift repairs them to`() throws {
    var seed: UInt64 = 0x9E37_79B9_7F4A_7C15
    for _ in 0..<2000 {
      var path: [UInt8] = [0x2F]
      while path.count < 12 {
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        let byte = UInt8(truncatingIfNeeded: seed >> 33)
        // Lead and continuation bytes are made frequent; a question mark would end the path.
        path.append(byte == UInt8(ascii: "?") ? 0xE2 : seed >> 60 < 6 ? byte & 0x3F | 0x80 : byte)
      }
      if path.contains(UInt8(ascii: "?")) { continue }
      var writer = AccessRecordWriter(format: .json, routes: [])
      Self.append(AccessRecord(), to: &writer, path: path)
      let decoded = try JSONDecoder().decode(Decoded.self, from: Data(Self.drained(&writer).utf8))
      #expect(decoded.path == String(decoding: path, as: UTF8.self))
    }
  }

  @Test func `a drained writer keeps its memory`() {
    var writer = AccessRecordWriter(format: .json, routes: ["a", "b"], capacity: 4096)
    var addresses: Set<Int> = []
    for _ in 0..<50 {
      Self.append(Self.full, to: &writer, path: Array("/orders/".utf8))
      writer.drain { addresses.insert(Int(bitPattern: $0.baseAddress)) }
    }
    #expect(addresses.count == 1)
  }
}
