internal import Bytes
package import HTTP

/// The request field by which a caller picks one of the route's listed tokens. No other token can be requested.
package struct TokenChoice: Sendable {
  /// The field's name as configured.
  package let field: String
  private let name: [UInt8]
  private let values: [(value: [UInt8], slot: Int)]

  package enum Verdict: Sendable, Hashable {
    /// None: the route's own token.
    case usual
    case slot(Int)
    /// A value that is not listed, or the field twice: of two, another reader might use the other one.
    case refused
  }

  package init(field: String, values: [(value: String, slot: Int)]) {
    self.field = field
    name = Array(field.utf8)
    self.values = values.map { (Array($0.value.utf8), $0.slot) }
  }

  /// A request's choice. Values are compared byte by byte.
  package func verdict(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Verdict {
    var verdict = Verdict.usual
    for index in 0..<head.fields.count where consumes(head.fields[index], bytes) {
      guard verdict == .usual, let slot = slot(of: bytes.extracting(head.fields[index].value)) else { return .refused }
      verdict = .slot(slot)
    }
    return verdict
  }

  /// True if a line is the field, which is not forwarded.
  package func consumes(_ line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    line.known == .other && bytes.extracting(line.name).equalsIgnoringCase(name.span)
  }

  private func slot(of value: Span<UInt8>) -> Int? {
    for known in values where equal(known.value.span, value) { return known.slot }
    return nil
  }
}
