// Owns the reading of `Expect`. When the 100 is sent is the relay's to decide.
//
//     Expect = #expectation ; the only one defined is 100-continue, in any case           (RFC 9110 §10.1.1)

/// What a request expects before it sends its content.
public enum ExpectContinue: UInt8, Sendable, Hashable {
  /// Nothing, or an expectation in an HTTP/1.0 request, which is ignored.
  case none
  /// A 100 (Continue) before the content.
  case continue100
  /// An expectation that no standard defines: 417 (Expectation Failed).
  case unknown

  /// The expectation of a request.
  public static func of(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> ExpectContinue {
    if !head.fields.contains(.expect) || head.version == .http10 { return .none }
    var expectation = ExpectContinue.none
    var next = head.fields.index(of: .expect)
    while let line = next {
      var elements = ListElements(bytes, head.fields[line].value)
      while let element = elements.next() {
        if !bytes.extracting(element).equalsIgnoringCase("100-continue") { return .unknown }
        expectation = .continue100
      }
      next = head.fields.index(of: .expect, from: line + 1)
    }
    return expectation
  }
}
