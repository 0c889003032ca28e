import Bytes
import HTTP
import Routing
import Testing

@Suite struct ProcessingRequestTests {
  private typealias Fields = [(String, String)]

  /// A message about the head of a request (2) or a response (3), with texts of Envoy's metadata.
  private static func message(_ number: UInt32, _ fields: Fields, _ metadata: [(String, Fields)] = []) -> [UInt8] {
    var message = ProtobufWriter()
    message.message(number) { head in
      head.message(1) { map in
        for (name, value) in fields {
          map.message(1) {
            $0.bytes(1, name.utf8)
            $0.bytes(3, value.utf8)
          }
        }
      }
      head.number(3, 1)
    }
    message.message(8) { context in
      for (name, texts) in metadata { entry(&context, name) { for (key, value) in texts { text(&$0, key, value) } } }
    }
    message.message(11) { _ in }
    return message.bytes
  }

  private static func entry(_ message: inout ProtobufWriter, _ name: String, _ value: (inout ProtobufWriter) -> Void) {
    message.message(1) {
      $0.bytes(1, name.utf8)
      $0.message(2, value)
    }
  }

  private static func text(_ message: inout ProtobufWriter, _ name: String, _ value: String) {
    entry(&message, name) { $0.bytes(3, value.utf8) }
  }

  private static func request(_ fields: Fields, _ metadata: [(String, Fields)] = []) throws -> ProcessedRequest {
    guard case .request(let request) = try ProcessingRequest(message(2, fields, metadata)[...]) else {
      throw ProtobufError.type
    }
    return request
  }

  /// The head of a question in the HTTP form.
  private static func head(_ question: CheckRequest) throws -> String {
    var head = ByteBuffer(capacity: 1024)
    let none: [UInt8] = []
    try question.writeHead(RequestHead(), none.span, limit: 4096, into: &head)
    return head.withBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }
  }

  private static let pseudo: Fields = [
    (":method", "PUT"), (":path", "/api/a?b"), (":authority", "api.example"), (":scheme", "https"),
  ]

  private static func question(_ request: ProcessedRequest, upstream: String = "/api/") -> CheckRequest? {
    request.question(
      of: Array("orders".utf8)[...], host: Array("h".utf8), path: Array("/orders/".utf8),
      upstreamPath: Array(upstream.utf8), credentialField: "Authorization")
  }

  @Test func `a head becomes a question about the path before Envoy replaced it, without what an attempt has set`()
    throws
  {
    let request = try Self.request(
      Self.pseudo + [("authorization", "Bearer ours"), ("x-part", "z"), ("accept", "*/*"), ("x-bearer-status", "401")],
      [("bearer_proxy.caller", [("x-part", "b")]), ("other", [("x-other", "c")])])
    #expect(
      try Self.head(#require(Self.question(request)))
        == "POST /.bearer/authorize/orders HTTP/1.1\r\nHost: localhost\r\nx-forwarded-method: PUT\r\n"
        + "x-forwarded-uri: /orders/a?b\r\nx-forwarded-host: h\r\naccept: */*\r\nx-part: b\r\n\r\n")
    #expect(request.replacement == nil)
    #expect(Self.question(request, upstream: "/other/") == nil)
    #expect(
      try Self.head(request.question)
        == "POST /.bearer/authorize HTTP/1.1\r\nHost: localhost\r\nx-forwarded-method: PUT\r\n"
        + "x-forwarded-uri: /api/a?b\r\nx-forwarded-host: api.example\r\nauthorization: Bearer ours\r\nx-part: z\r\n"
        + "accept: */*\r\n\r\n")
  }

  @Test func `the caller's own credential, and a token for another attempt, come from Envoy's metadata`() throws {
    let request = try Self.request(
      Self.pseudo + [("authorization", "Bearer ours")],
      [("bearer_proxy.caller", [("authorization", "Bearer own")]), ("bearer_proxy.again", [("token", "Bearer new")])])
    let head = try Self.head(#require(Self.question(request)))
    #expect(head.contains("\r\nauthorization: Bearer own\r\n") && !head.contains("ours"))
    #expect(request.replacement?.elementsEqual("Bearer new".utf8) == true)
  }

  @Test(
    arguments: [
      ([(":status", "401")], 401, 0), ([(":status", "401"), ("www-authenticate", "Bearer a")], 401, 1),
      ([(":status", "403"), ("www-authenticate", "Bearer a"), ("www-authenticate", "b")], 403, 2),
      ([(":status", "403")], nil, 0), ([(":status", "200"), ("grpc-status", "16")], 401, 0),
      ([(":status", "200"), ("grpc-status", "7")], nil, 0), ([(":status", "500"), ("grpc-status", "16")], nil, 0),
      ([(":status", "x")], nil, 0), ([], nil, 0),
    ] as [([(String, String)], Int?, Int)])
  func `a response refuses the token, or not`(fields: [(String, String)], status: Int?, challenges: Int) throws {
    guard case .response(let response) = try ProcessingRequest(Self.message(3, fields)[...]) else {
      throw ProtobufError.type
    }
    #expect(response.refusal == status)
    #expect(response.challenges.count == challenges)
  }

  @Test func `a report has the fields of the HTTP form`() throws {
    let fields = [(":status", "403"), ("www-authenticate", "Bearer error=\"insufficient_scope\"")]
    guard case .response(let response) = try ProcessingRequest(Self.message(3, fields)[...]) else {
      throw ProtobufError.type
    }
    var question = try Self.request(Self.pseudo).question
    question.reports = response.report(of: Array("Bearer t".utf8)[...], status: 403)
    #expect(
      try Self.head(question).hasSuffix(
        "x-bearer-refused: Bearer t\r\nx-bearer-status: 403\r\n"
          + "x-bearer-challenge: Bearer error=\"insufficient_scope\"\r\n\r\n"))
  }

  @Test(arguments: [4, 5, 6, 7] as [UInt32])
  func `another part is answered as it is`(number: UInt32) throws {
    #expect(try ProcessingRequest(Self.message(number, [])[...]) == .other(number))
    #expect(CheckResponse.processing(other: number) == [UInt8(number - 1) << 3 | 2, 0])
  }

  @Test(
    arguments: [
      ([], .tag), ([0x52, 0], .tag), ([0x12, 0, 0x1A, 0], .repeated), ([0x12, 0, 0x12, 0], .repeated),
      ([0x10, 1], .type),
      ([0x12, 1], .cut), ([0x12, 4, 0x0A, 2, 0x08, 1], .type), ([0x12, 4, 0x0A, 0, 0x0A, 0], .repeated),
    ] as [([UInt8], ProtobufError)])
  func `what is about no part, or about two, is no message`(message: [UInt8], error: ProtobufError) {
    #expect(throws: error) { try ProcessingRequest(message[...]) }
  }
}
