// Envoy's messages in a call of ExternalProcessor/Process (the fields of envoy/service/ext_proc/v3): the heads of a
// request and of its response. The request's becomes the question of Authorization/Check.

package import Bytes
internal import HTTP

/// One message of a `Process` call.
package enum ProcessingRequest: Sendable, Hashable {
  package static let path: StaticString = "/envoy.service.ext_proc.v3.ExternalProcessor/Process"

  /// The head of the request that Envoy is about to send.
  case request(ProcessedRequest)
  /// The head of the response.
  case response(ProcessedResponse)
  /// Another part of either, which decides nothing. The number is that of its field.
  case other(UInt32)

  /// Reads a message, which is about one part.
  package init(_ message: ArraySlice<UInt8>) throws(ProtobufError) {
    var part: (number: UInt32, bytes: ArraySlice<UInt8>)?
    var metadata: ArraySlice<UInt8>?
    try ProtobufReader.each(message) { field throws(ProtobufError) in
      switch field.number {
      case 2...7:
        guard part == nil else { throw .repeated }
        part = (field.number, try field.bytes())
      case 8: try field.take(into: &metadata)
      default: break
      }
    }
    switch part {
    case (2, let bytes)?: self = .request(try ProcessedRequest(try Self.fields(bytes), metadata ?? []))
    case (3, let bytes)?: self = .response(ProcessedResponse(try Self.fields(bytes)))
    case let (number, _)?: self = .other(number)
    case nil: throw .tag
    }
  }

  private static func fields(_ head: ArraySlice<UInt8>) throws(ProtobufError) -> [CheckRequest.Field] {
    var fields: [CheckRequest.Field] = []
    try CheckRequest.Field.each(in: try ProtobufReader.only(1, in: head) ?? []) { fields.append($0) }
    return fields
  }
}

/// The head of a request that Envoy is about to send to the API, and what its metadata know about that.
package struct ProcessedRequest: Sendable, Hashable {
  private var method: ArraySlice<UInt8>?
  /// With the query, as the API will get it.
  private var target: ArraySlice<UInt8>?
  private var host: ArraySlice<UInt8>?
  private var fields: [CheckRequest.Field] = []
  /// Fields of Envoy's caller as they were before the first attempt, from `bearer_proxy.caller`.
  private var callersFields: [CheckRequest.Field] = []
  /// The token that an attempt before this one got in the place of a refused one, from `bearer_proxy.again`.
  package private(set) var replacement: ArraySlice<UInt8>?

  fileprivate init(_ head: [CheckRequest.Field], _ metadata: ArraySlice<UInt8>) throws(ProtobufError) {
    for field in head {
      switch field.text {
      case ":method": method = field.value
      case ":path": target = field.value
      case ":authority": host = field.value
      default: fields.append(field)
      }
    }
    try Self.entries(metadata) { name, texts throws(ProtobufError) in
      try Self.entries(texts) { key, value throws(ProtobufError) in
        guard let text = try ProtobufReader.only(3, in: value) else { return }
        if name == "bearer_proxy.caller" { callersFields.append(CheckRequest.Field(key, text)) }
        if name == ProcessedResponse.namespace, key == "token" { replacement = text }
      }
    }
  }

  /// Lends the entries of a map from texts to messages, which is the first field of a message.
  private static func entries(
    _ message: ArraySlice<UInt8>, _ body: (String, ArraySlice<UInt8>) throws(ProtobufError) -> Void
  ) throws(ProtobufError) {
    try ProtobufReader.each(message) { entry throws(ProtobufError) in
      guard entry.number == 1 else { return }
      var (name, value) = ("", ArraySlice<UInt8>())
      try ProtobufReader.each(try entry.bytes()) { field throws(ProtobufError) in
        switch field.number {
        case 1: name = try field.text()
        case 2: value = try field.bytes()
        default: break
        }
      }
      try body(name, value)
    }
  }

  /// The question for the token of the route that takes the request.
  package var question: CheckRequest {
    CheckRequest(route: nil, method: method, target: target, host: host, fields: fields)
  }

  /// The question for the token of a route. Envoy has replaced the route's `path` by that of the upstream already, and
  /// keeps what an attempt has set: the caller's own credential is in its metadata alone. nil if the path is not below
  /// the upstream's.
  package func question(
    of route: ArraySlice<UInt8>, host: [UInt8], path: [UInt8], upstreamPath: [UInt8], credentialField: String
  ) -> CheckRequest? {
    guard let target, target.starts(with: upstreamPath) else { return nil }
    let decided = callersFields.map(\.text) + [credentialField.lowercased()]
    return CheckRequest(
      route: route, method: method, target: path + target.dropFirst(upstreamPath.count), host: host[...],
      fields: fields.filter { !decided.contains($0.text) } + callersFields)
  }
}

package struct ProcessedResponse: Sendable, Hashable {
  /// The namespace of Envoy's metadata for a token in the place of a refused one.
  static let namespace = "bearer_proxy.again"

  /// The status of a refusal of the token; nil for other responses.
  package private(set) var refusal: Int?
  /// The values of `WWW-Authenticate`.
  package private(set) var challenges: [ArraySlice<UInt8>] = []

  fileprivate init(_ head: [CheckRequest.Field]) {
    func values(_ name: String) -> [ArraySlice<UInt8>] { head.filter { $0.text == name }.map(\.value) }
    challenges = values("www-authenticate")
    let status = values(":status").first.flatMap { Int(String(decoding: $0, as: UTF8.self)) }
    let isUnauthenticated = values("grpc-status").first?.elementsEqual("16".utf8) == true
    switch status {
    case 401?: refusal = 401
    case 403? where !challenges.isEmpty: refusal = 403
    // A call that is answered by a head alone.
    case 200? where isUnauthenticated: refusal = 401
    default: break
    }
  }

  /// The report of the refusal of a token, in the fields of the HTTP form.
  package func report(of credential: ArraySlice<UInt8>, status: Int) -> [CheckRequest.Field] {
    [
      CheckRequest.Field("x-bearer-refused", credential), CheckRequest.Field("x-bearer-status", "\(status)".utf8.slice),
    ] + challenges.map { CheckRequest.Field("x-bearer-challenge", $0) }
  }
}

extension CheckRequest.Field {
  fileprivate var text: String { String(decoding: name, as: UTF8.self) }
}

extension String.UTF8View {
  fileprivate var slice: ArraySlice<UInt8> { Array(self)[...] }
}
