internal import Bytes
internal import HTTP
internal import Identity

/// A request that may be forwarded, beside its route. Without a reference in it, so that handing it on costs nothing.
struct AdmittedRequest {
  var method = RequestMethod.get
  var version = HTTPVersion.http11
  var framing = BodyFraming.none
  /// True if the path to forward is the normal form instead of the one sent.
  var usesNormalPath = false
  /// True if the caller may wait for a 100 before it sends its content (RFC 9110 §10.1.1).
  var expectsContinue = false
  /// True if the exchange may become a WebSocket.
  var asksForWebSocket = false
  /// True if the caller's connection can go on after it.
  var persistence = Persistence.keepAlive

  var hasContent: Bool { framing != .none && framing != .fixed(0) }
}

/// The credential that a request carries to its upstream. Whose it is can be asked without taking a reference to it.
struct RequestCredential {
  enum Owner: Equatable {
    /// It is a token of the proxy's: the upstream may refuse it, and another one may help.
    case proxy
    /// The `Authorization` is the caller's own, if it sent one.
    case caller
    /// A caller's own `Authorization` is not forwarded, and no other token would help.
    case none
  }

  let owner: Owner
  let bearer: BearerValue?
  /// The one that the upstream refused before. It may be valid elsewhere.
  private let refused: BearerValue?

  private init(_ owner: Owner, _ bearer: BearerValue? = nil, refused: BearerValue? = nil) {
    self.owner = owner
    self.bearer = bearer
    self.refused = refused
  }

  /// The caller's own, if it sent one.
  static var callers: RequestCredential { RequestCredential(.caller) }
  /// None: what the caller sent stays here.
  static var none: RequestCredential { RequestCredential(.none) }
  static func bearer(_ value: BearerValue) -> RequestCredential { RequestCredential(.proxy, value) }
  /// A fixed credential. In another field it leaves the caller's `Authorization` alone.
  static func fixed(_ value: BearerValue) -> RequestCredential {
    RequestCredential(value.otherField == nil ? .none : .caller, value)
  }

  /// Another token of the proxy's in the place of this one, which was refused.
  func replaced(by value: BearerValue) -> RequestCredential { RequestCredential(.proxy, value, refused: bearer) }

  var replacesCallers: Bool { owner != .caller }

  /// True if a field line has one of the tokens that were sent in its name or value.
  func isRepeated(by line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    isRepeated(in: bytes.extracting(line.value)) || isRepeated(in: bytes.extracting(line.name))
  }

  /// True if a text has one of the tokens that were sent in it.
  @inline(__always)
  func isRepeated(in text: Span<UInt8>) -> Bool {
    bearer?.isRepeated(in: text) == true || refused?.isRepeated(in: text) == true
  }
}

extension BearerValue {
  @inline(__always)
  func writeField(into output: inout ByteBuffer) {
    if let otherField {
      HeadWriter.field(otherField, bytes, into: &output)
    } else {
      HeadWriter.field("Authorization", bytes, into: &output)
    }
  }

  /// True if a text has the token in it. Nearly every value is shorter than a token.
  @inline(__always)
  func isRepeated(in value: Span<UInt8>) -> Bool {
    tokenCount > 0 && value.count >= tokenCount && occurs(in: value)
  }

  @inline(never)
  private func occurs(in value: Span<UInt8>) -> Bool {
    let token = bytes.extracting(last: tokenCount)
    for start in 0...(value.count - token.count)
    where value[start] == token[0] && equal(value.extracting(start..<(start + token.count)), token) { return true }
    return false
  }
}
