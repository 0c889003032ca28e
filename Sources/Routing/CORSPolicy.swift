// What is said to browsers when a page of another site, one that the listener lets call, asks: preflights are answered
// here and never reach an upstream, and what an upstream says of sharing is replaced (Fetch §3.3).

package import Bytes
package import HTTP

/// The `Access-Control-` fields.
package enum CORSPolicy {
  private static let prefix = Array("access-control-".utf8)
  private static let requestedMethod = Array("access-control-request-method".utf8)
  private static let requestedFields = Array("access-control-request-headers".utf8)

  /// Whether a request only asks whether another one may be made.
  package static func isPreflight(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    head.method == .options && head.fields.first(named: requestedMethod, in: bytes) != nil
  }

  /// Whether a line says who may read an answer: the proxy says that itself.
  package static func isVerdict(_ line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    let name = bytes.extracting(line.name)
    guard line.known == .other, name.count > prefix.count else { return false }
    return name.extracting(0..<prefix.count).equalsIgnoringCase(prefix.span)
  }

  /// Lets a page of `origin` read an answer. Cookies and the like are never part of it: there is no
  /// `Allow-Credentials`.
  package static func writeGrant(origin: Span<UInt8>, into output: inout ByteBuffer) {
    HeadWriter.field("Access-Control-Allow-Origin", origin, into: &output)
    output.append("Access-Control-Expose-Headers: *\r\n")
  }

  /// Appends the fields of the answer to a preflight: whatever it asks for may be sent, since the request itself is
  /// judged when it comes.
  package static func writePreflightGrant(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, origin: Span<UInt8>, into output: inout ByteBuffer
  ) {
    HeadWriter.field("Access-Control-Allow-Origin", origin, into: &output)
    if let method = head.fields.first(named: requestedMethod, in: bytes) {
      HeadWriter.field("Access-Control-Allow-Methods", bytes.extracting(method.value), into: &output)
    }
    if let fields = head.fields.first(named: requestedFields, in: bytes) {
      HeadWriter.field("Access-Control-Allow-Headers", bytes.extracting(fields.value), into: &output)
    }
    output.append(
      "Access-Control-Max-Age: 600\r\nVary: Origin, Access-Control-Request-Method, Access-Control-Request-Headers\r\n")
  }
}
