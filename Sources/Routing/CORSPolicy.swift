// Answers for browsers if a page of another site may call: preflights are answered here and never reach an upstream,
// and an upstream's own sharing fields are replaced (Fetch §3.3).

package import Bytes
package import HTTP

package enum CORSPolicy {
  private static let requestedMethod = Array("access-control-request-method".utf8)
  private static let requestedFields = Array("access-control-request-headers".utf8)

  /// True if a request only asks for permission to make another one.
  package static func isPreflight(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    head.method == .options && head.fields.first(named: requestedMethod, in: bytes) != nil
  }

  /// True if a line decides who may read an answer: the proxy decides that itself.
  package static func isVerdict(_ line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    // A field of this name alone is none of them.
    line.known == .other && line.name.count > 15
      && bytes.extracting(line.name).startsIgnoringCase(with: "access-control-")
  }

  /// Lets a page of `origin` read an answer, without credentials: there is no `Allow-Credentials`.
  package static func writeGrant(origin: Span<UInt8>, into output: inout ByteBuffer) {
    HeadWriter.field("Access-Control-Allow-Origin", origin, into: &output)
    output.append("Access-Control-Expose-Headers: *\r\n")
  }

  /// Appends the fields of the answer to a preflight: every request that it asks for may be sent, since the request
  /// itself is judged when it comes.
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
