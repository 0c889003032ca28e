// The reading of `Max-Forwards`: how many more intermediaries a request may pass.
//
//     Max-Forwards = 1*DIGIT                                                              (RFC 9110 §7.6.2)

import Bytes

/// What `Max-Forwards` of a request says to an intermediary.
public enum MaxForwards: Sendable, Hashable {
  /// Nothing: there is no such field, or the method is one for which it means nothing.
  case unlimited
  /// The request goes no further: this is its final recipient.
  case exhausted
  /// The request is sent on with this value.
  case left(UInt32)
  /// The field is repeated or no number, so that it cannot be counted down.
  case invalid

  /// What is to be made of a request. The field means something for OPTIONS and TRACE alone.
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
      // What is sent on is the lesser of one below and the most that we support.
      let (scaled, isOver) = number.multipliedReportingOverflow(by: 10)
      let (sum, isOverToo) = scaled.addingReportingOverflow(UInt32(digit))
      number = isOver || isOverToo ? .max : sum
    }
    return number == 0 ? .exhausted : .left(number - 1)
  }
}
