// Envoy's question in its gRPC form (envoy.service.auth.v3.Authorization/Check, the fields of envoy/service/auth/v3).
// It becomes a request for a token in the HTTP form, so that one set of rules judges both.

package import Bytes
package import HTTP

/// The parts of a `CheckRequest` that decide about a token.
package struct CheckRequest: Sendable, Hashable {
  package static let path: StaticString = "/envoy.service.auth.v3.Authorization/Check"

  /// A field of the request that Envoy is about to forward.
  package struct Field: Sendable, Hashable {
    package var name: ArraySlice<UInt8>
    package var value: ArraySlice<UInt8>

    package init(_ name: String, _ value: ArraySlice<UInt8>) {
      (self.name, self.value) = (Array(name.utf8)[...], value)
    }

    /// Reads an entry of a map of texts, or a `HeaderValue`, whose third field has a value as it was sent.
    init(_ entry: ArraySlice<UInt8>) throws(ProtobufError) {
      var (name, value): (ArraySlice<UInt8>?, ArraySlice<UInt8>?)
      try ProtobufReader.each(entry) { field throws(ProtobufError) in
        switch field.number {
        case 1: try field.take(into: &name)
        case 2, 3: if try !field.bytes().isEmpty { try field.take(into: &value) }
        default: break
        }
      }
      (self.name, self.value) = (name ?? [], value ?? [])
    }

    /// Reads the entries of a `HeaderMap`.
    static func each(in map: ArraySlice<UInt8>, _ body: (Field) -> Void) throws(ProtobufError) {
      try ProtobufReader.each(map) { header throws(ProtobufError) in
        if header.number == 1 { body(try Field(try header.bytes())) }
      }
    }
  }

  /// The name of the route, from `context_extensions`; nil if the request itself chooses it.
  package private(set) var route: ArraySlice<UInt8>?
  /// True if Envoy wants the token in its dynamic metadata, too.
  package private(set) var wantsMetadata = false
  package private(set) var method: ArraySlice<UInt8>?
  /// With the query.
  package private(set) var target: ArraySlice<UInt8>?
  package private(set) var host: ArraySlice<UInt8>?
  package private(set) var fields: [Field] = []
  /// Reports of a refused token: fields of Envoy's own, `X-Bearer-…`.
  package var reports: [Field] = []

  init(
    route: ArraySlice<UInt8>?, method: ArraySlice<UInt8>?, target: ArraySlice<UInt8>?, host: ArraySlice<UInt8>?,
    fields: [Field]
  ) {
    (self.route, self.method, self.target, self.host, self.fields) = (route, method, target, host, fields)
  }

  /// Reads the message. Fields that decide nothing are skipped.
  package init(_ message: ArraySlice<UInt8>) throws(ProtobufError) {
    var request: ArraySlice<UInt8>?
    try ProtobufReader.each(try ProtobufReader.only(1, in: message) ?? []) { field throws(ProtobufError) in
      switch field.number {
      case 4: try field.take(into: &request)
      case 10: try takeExtension(try field.bytes())
      default: break
      }
    }
    try ProtobufReader.each(try ProtobufReader.only(2, in: request ?? []) ?? []) { field throws(ProtobufError) in
      switch field.number {
      case 2: try field.take(into: &method)
      case 3: fields.append(try Field(try field.bytes()))
      case 4: try field.take(into: &target)
      case 5: try field.take(into: &host)
      case 13: try Field.each(in: try field.bytes()) { fields.append($0) }
      default: break
      }
    }
  }

  private mutating func takeExtension(_ bytes: ArraySlice<UInt8>) throws(ProtobufError) {
    let entry = try Field(bytes)
    if entry.name.elementsEqual("route".utf8) {
      guard route == nil else { throw .repeated }
      route = entry.value
    } else if entry.name.elementsEqual("metadata".utf8) {
      wantsMetadata = entry.value.elementsEqual("token".utf8)
    }
  }

  // MARK: The HTTP form

  /// Appends the head of the same question in the HTTP form, with HTTP/1.1. The fields of a refusal, `X-Bearer-…`, are
  /// those of Envoy's own head, `engine`, and `reports`; a caller's are left out.
  package func writeHead(
    _ engine: borrowing RequestHead, _ bytes: Span<UInt8>, limit: Int, into head: inout ByteBuffer
  ) throws(RequestHeadError) {
    var path = Array("/.bearer/authorize".utf8)
    if let route {
      // A name, and nothing behind it.
      guard !route.isEmpty, route.allSatisfy({ !"/?#%".utf8.contains($0) }) else { throw .target }
      path += [ASCII.slash] + route
    }
    let lines: [(StaticString, ArraySlice<UInt8>?)] = [
      (":method", ArraySlice("POST".utf8)), (":scheme", ArraySlice("http".utf8)), (":path", path[...]),
      (":authority", ArraySlice("localhost".utf8)), ("x-forwarded-method", method), ("x-forwarded-uri", target),
      ("x-forwarded-host", host),
    ]
    var block = FieldBlock(limit: limit)
    var isFine = true
    for case (let name, let value?) in lines {
      isFine = block.add(Array("\(name)".utf8).span, value.span) && isFine
    }
    for field in fields where Self.passes(field) { isFine = block.add(field.name.span, field.value.span) && isFine }
    for report in reports { isFine = block.add(report.name.span, report.value.span) && isFine }
    for index in 0..<engine.fields.count {
      let line = engine.fields[index]
      // Names are in lower case in HTTP/2.
      let name = bytes.extracting(line.name)
      if Self.isReport(name) { isFine = block.add(name, bytes.extracting(line.value)) && isFine }
    }
    if block.isTooLarge { throw .headTooLarge }
    guard isFine, block.writeHead(hasContent: false, isSecure: false, into: &head) else { throw .field(.value) }
  }

  private static func isReport(_ name: Span<UInt8>) -> Bool {
    name.startsIgnoringCase(with: "x-bearer-")
  }

  /// The caller's fields that nothing here judges: those of the last two names are Envoy's own description.
  private static var unjudged: FieldNameSet { TargetOverride.names.with(.xForwardedMethod).with(.xOriginalMethod) }

  // Not what is about Envoy's connection, nor what only Envoy may say. `Host` and the pseudo-fields are in the
  // attributes.
  private static func passes(_ field: Field) -> Bool {
    let name = field.name.span
    if name.isEmpty || name[0] == ASCII.colon || isReport(name) { return false }
    switch FieldName(name) {
    case .host, .contentLength, .transferEncoding, .connection, .keepAlive, .proxyConnection, .upgrade, .te, .expect,
      .xForwardedHost, .lookalike:
      return false
    case let known: return !unjudged.contains(known)
    }
  }

  /// The names of fields that must not reach an API, because it could take them for its path or for other fields, as on
  /// a request that the proxy forwards itself.
  package var strayNames: [ArraySlice<UInt8>] {
    fields.map(\.name).filter {
      let known = FieldName($0.span)
      return known == .lookalike || Self.unjudged.contains(known)
    }
  }
}
