import HTTP
import Testing

private func requestFraming(_ fields: String, version: String = "1.1") -> Result<BodyFraming, FramingError> {
  withRequest("POST / HTTP/\(version)\r\nHost: h\r\n\(fields)\r\n") { head, bytes in
    do throws(FramingError) {
      return .success(try BodyFraming.request(head, bytes))
    } catch {
      return .failure(error)
    }
  }
}

private func responseFraming(
  _ status: Int, _ fields: String, to method: RequestMethod, version: String = "1.1"
) -> Result<BodyFraming, FramingError> {
  withResponse("HTTP/\(version) \(status) x\r\n\(fields)\r\n") { head, bytes in
    do throws(FramingError) {
      return .success(try BodyFraming.response(head, bytes, requestMethod: method))
    } catch {
      return .failure(error)
    }
  }
}

@Suite struct BodyFramingTests {
  static let stated: [(fields: String, framing: BodyFraming)] = [
    ("Content-Length: 0\r\n", .fixed(0)),
    ("content-length:\t42 \r\n", .fixed(42)),
    ("Content-Length: 0042\r\n", .fixed(42)),
    ("Content-Length: 9223372036854775807\r\n", .fixed(UInt64(Int64.max))),
    ("Transfer-Encoding: chunked\r\n", .chunked),
    ("TRANSFER-ENCODING:CHUNKED\r\n", .chunked),
  ]

  private static let faultyFields: KeyValuePairs<FramingError, [String]> = [
    .contentLengthInvalid: [
      "Content-Length:\r\n", "Content-Length: +1\r\n", "Content-Length: -1\r\n", "Content-Length: 1 2\r\n",
      "Content-Length: 0x1\r\n", "Content-Length: 1_0\r\n", "Content-Length: 9223372036854775808\r\n",
      "Content-Length: 99999999999999999999999999\r\n",
    ],
    .contentLengthRepeated: [
      "Content-Length: 5\r\nContent-Length: 5\r\n", "Content-Length: 5\r\nA: b\r\ncontent-length: 6\r\n",
      "Content-Length: 5, 5\r\n",
    ],
    .bothLengths: [
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: x\r\nContent-Length: y\r\n",
    ],
    .transferEncodingInvalid: [
      "Transfer-Encoding:\r\n", "Transfer-Encoding: identity\r\n", "Transfer-Encoding: chunked, gzip\r\n",
      "Transfer-Encoding: chunkedchunked\r\n", "Transfer-Encoding: chunked,\r\n", "Transfer-Encoding: ,chunked\r\n",
      "Transfer-Encoding: \"chunked\"\r\n", "Transfer-Encoding: chunked;a=b\r\n", "Transfer-Encoding: gzip chunked\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n",
    ],
    .transferCodingUnknown: ["Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: identity , chunked\r\n"],
  ]

  static let faults: [(fields: String, error: FramingError)] = faultyFields.flatMap { error, fields in
    fields.map { ($0, error) }
  }

  @Test(arguments: stated)
  func `one clear statement decides, for requests and responses alike`(fields: String, framing: BodyFraming) {
    #expect(requestFraming(fields) == .success(framing))
    #expect(responseFraming(200, fields, to: .get) == .success(framing))
  }

  @Test(arguments: faults)
  func `ambiguous framing is refused in requests and responses`(fields: String, error: FramingError) {
    #expect(requestFraming(fields) == .failure(error))
    #expect(responseFraming(200, fields, to: .get) == .failure(error))
    #expect(responseFraming(304, fields, to: .head) == .failure(error), "also where there is no content")
  }

  @Test func `without a statement a request has no content and a response ends with its connection`() {
    #expect(requestFraming("") == .success(.none))
    #expect(requestFraming("Content_Length: 5\r\nContent-Length-X: 5\r\n") == .success(.none))
    #expect(responseFraming(200, "", to: .get) == .success(.untilClose))
    #expect(responseFraming(500, "", to: .get, version: "1.0") == .success(.untilClose))
  }

  @Test(
    arguments: [
      (200, RequestMethod.head), (404, .head), (100, .get), (101, .get), (103, .post), (204, .get), (304, .get),
    ])
  func `no content follows if status or method forbid it, whatever the fields are`(status: Int, method: RequestMethod) {
    for fields in ["", "Content-Length: 10\r\n", "Transfer-Encoding: chunked\r\n"] {
      #expect(responseFraming(status, fields, to: method) == .success(.none))
    }
  }

  static let oldFaults: [(fields: String, error: FramingError)] = [
    ("Transfer-Encoding: chunked\r\n", .transferEncodingInHTTP10)
  ]

  @Test func `HTTP 1.0 knows lengths but no transfer codings`() {
    #expect(requestFraming("Content-Length: 3\r\n", version: "1.0") == .success(.fixed(3)))
    for (fields, error) in Self.oldFaults {
      #expect(requestFraming(fields, version: "1.0") == .failure(error))
      #expect(responseFraming(200, fields, to: .get, version: "1.0") == .failure(error))
    }
  }

  @Test func `an unknown coding is our shortcoming, everything else the sender's fault`() {
    #expect(FramingError.transferCodingUnknown.status == 501)
    #expect(FramingError.bothLengths.status == 400)
  }
}
