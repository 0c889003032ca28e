// Reads `Max-Forwards`: the number of further intermediaries that a request may pass.
//
//     Max-Forwards = 1*DIGIT                                                              (RFC 9110 §7.6.2)

import Bytes

/// The meaning of a request's `Max-Forwards` for an intermediary.
public enum MaxForwards: Sendable, Hashable {
  /// There is no such field, or the method gives it no meaning.
  case unlimited
  /// The request goes no further: this is its final recipient.
  case exhausted
  /// The request is sent on with this value.
  case left(UInt32)
  /// The field is repeated or no number, so that it cannot be counted down.
  case invalid

  /// Reads a request. The field has a meaning for OPTIONS and TRACE alone.
  public static func of(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> MaxForwards {
    guard head.method == .options || head.method == .trace, let line = head.fields.index(of: .maxForwards) else {
      return .unlimited
    }
    let value = bytes.extracting(head.fields[line].value)
    if value.isEmpty || head.fields.index(of: .maxForwards, from: line + 1) != nil { return .invalid }
    var number: UInt32 = 0
    for index in value.indices {
      let digit = value[index] &- ASCII.zero
      if digit > 9 { return .invalid }
      // The value sent on is the lesser of one below and the maximum that we support.
      let (scaled, isOver) = number.multipliedReportingOverflow(by: 10)
      let (sum, isOverToo) = scaled.addingReportingOverflow(UInt32(digit))
      number = isOver || isOverToo ? .max : sum
    }
    return number == 0 ? .exhausted : .left(number - 1)
  }
}
