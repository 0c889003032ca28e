import Bytes
import HTTP
import Testing

@Suite struct GRPCCallTests {
  /// Reads the fields of a request that came by HTTP/2.
  private static func read<Result>(
    _ fields: String, _ version: HTTPVersion = .http2, _ body: (borrowing RequestHead, Span<UInt8>) -> Result
  ) -> Result {
    var parser = RequestHeadParser()
    var head = RequestHead()
    let bytes = Array("POST /a.B/C HTTP/1.1\r\nHost: h\r\n\(fields)\r\n".utf8)
    _ = parser.parse(bytes.span, into: &head, limits: HeadLimits())
    head.version = version
    return body(head, bytes.span)
  }

  @Test(
    arguments: [
      ("application/grpc", true), ("application/grpc+proto", true), ("Application/gRPC", true),
      ("application/grpc;charset=utf-8", true), ("application/grpc ; a=b", true), ("application/grpc-web", false),
      ("application/grpc-web+proto", false), ("application/grpcx", false), ("application/grp", false), ("", false),
      ("text/plain, application/grpc", false),
    ])
  func `a call is known by its media type, and only in HTTP 2`(type: String, isOne: Bool) {
    for version in [HTTPVersion.http2, .http11] {
      let result = Self.read("Content-Type: \(type)\r\n", version) { GRPCCall.isOne($0, $1) }
      #expect(result == (isOne && version == .http2))
    }
    let without = Self.read("") { GRPCCall.isOne($0, $1) }
    #expect(!without)
  }

  @Test(
    arguments: [
      ("", .none), ("grpc-timeout: 1H\r\n", .limit(.seconds(3600))), ("Grpc-Timeout: 2M\r\n", .limit(.seconds(120))),
      ("grpc-timeout: 20S\r\n", .limit(.seconds(20))),
      ("grpc-timeout: 99999999m\r\n", .limit(.milliseconds(99_999_999))),
      ("grpc-timeout: 5u\r\n", .limit(TimeSpan(nanoseconds: 5000))), ("grpc-timeout: 0n\r\n", .limit(.zero)),
      ("grpc-timeout: 007n\r\n", .limit(TimeSpan(nanoseconds: 7))),
      ("grpc-timeout: 99999999H\r\n", .limit(TimeSpan(nanoseconds: .max))),
      ("grpc-timeout: 100000000n\r\n", .invalid), ("grpc-timeout: S\r\n", .invalid), ("grpc-timeout: 1\r\n", .invalid),
      ("grpc-timeout:\r\n", .invalid), ("grpc-timeout: 1s\r\n", .invalid), ("grpc-timeout: -1S\r\n", .invalid),
      ("grpc-timeout: +1S\r\n", .invalid), ("grpc-timeout: 1 S\r\n", .invalid), ("grpc-timeout: 1.5S\r\n", .invalid),
      ("grpc-timeout: 0x1S\r\n", .invalid), ("grpc-timeout: 1Sx\r\n", .invalid), ("grpc-timeout: 1S, 2S\r\n", .invalid),
      ("grpc-timeout: 1S\r\ngrpc-timeout: 1S\r\n", .invalid),
    ] as [(String, GRPCTimeout)])
  func `the time of a call has at most eight digits and a unit, once`(fields: String, expected: GRPCTimeout) {
    let timeout = Self.read(fields) { GRPCTimeout($0, $1) }
    #expect(timeout == expected)
  }

  @Test(
    arguments: [
      (400, 13), (401, 16), (403, 7), (404, 12), (405, 12), (408, 4), (413, 8), (417, 13), (421, 12), (429, 14),
      (431, 13), (500, 2), (501, 12), (502, 14), (503, 14), (504, 14), (505, 2), (508, 2), (418, 2),
    ])
  func `an HTTP status has one meaning for gRPC`(status: Int, code: UInt8) {
    #expect(GRPCStatus(http: status).rawValue == code)
  }

  @Test(
    arguments: [
      ("plain words, 'quoted' & ~", "plain words, 'quoted' & ~"), ("100 %", "100 %25"),
      ("a\r\nb\tc\u{7F}", "a%0D%0Ab%09c%7F"),
      ("größer", "gr%C3%B6%C3%9Fer"), ("", ""),
    ])
  func `a message is printable ASCII, the rest encoded`(text: String, message: String) {
    #expect(GRPCStatus.message(text) == message)
  }
}
