// The four forms of a request target and their parts. `NormalPath` judges and changes paths.
//
//     request-target = origin-form / absolute-form / authority-form / asterisk-form       (RFC 9112 §3.2)

import Bytes

/// A request target in its parts.
public struct RequestTarget: Sendable {
  /// The form of a target.
  public enum Form: UInt8, Sendable, Hashable {
    /// `/path?query`.
    case origin
    /// `http://host/path?query`.
    case absolute
    /// `host:port`, of CONNECT.
    case authority
    /// `*`, of OPTIONS.
    case asterisk
  }

  /// RFC 9112 §3.2.
  public internal(set) var form = Form.origin
  /// The whole target.
  public internal(set) var whole = ByteRange()
  /// The scheme of the absolute form; nil in the others.
  public internal(set) var scheme: HTTPScheme?
  /// `host[:port]` of the absolute and authority forms.
  public internal(set) var authority = ByteRange()
  /// The path as written, beginning with `/`; empty if the target has none (then it is `/`).
  public internal(set) var path = ByteRange()
  /// The part behind the first `?`.
  public internal(set) var query = ByteRange()
  /// True if there is a `?`.
  public internal(set) var hasQuery = false

  init() {}

  /// Splits the target at `start..<end`, which holds target bytes only; `question` is the place of its first `?`, or
  /// `end`.
  mutating func read(
    _ bytes: Span<UInt8>, from start: Int, to end: Int, question: Int, method: RequestMethod
  ) -> RequestHeadError? {
    whole = ByteRange(from: start, to: end)
    scheme = nil
    authority = ByteRange()
    hasQuery = question < end
    query = ByteRange(from: hasQuery ? question + 1 : end, to: end)
    path = ByteRange(from: start, to: question)
    form = .origin
    if bytes[start] == ASCII.slash, method != .connect { return nil }
    return readOtherForm(bytes, from: start, to: end, question: question, method: method)
  }

  @inline(never)
  private mutating func readOtherForm(
    _ bytes: Span<UInt8>, from start: Int, to end: Int, question: Int, method: RequestMethod
  ) -> RequestHeadError? {
    if method == .connect {
      form = .authority
      authority = whole
      path = ByteRange(from: end, to: end)
      guard let parsed = HostName(bytes.extracting(whole)), parsed.port != nil else { return .target }
      return nil
    }
    if bytes[start] == ASCII.asterisk, end == start + 1 {
      form = .asterisk
      path = ByteRange(from: end, to: end)
      return method == .options ? nil : .target
    }
    let authorityStart: Int
    if end - start > 7, bytes.extracting(start..<start + 7).equalsIgnoringCase("http://") {
      authorityStart = start + 7
      scheme = .http
    } else if end - start > 8, bytes.extracting(start..<start + 8).equalsIgnoringCase("https://") {
      authorityStart = start + 8
      scheme = .https
    } else {
      return .target
    }
    form = .absolute
    var index = authorityStart
    while index < question, bytes[index] != ASCII.slash { index += 1 }
    authority = ByteRange(from: authorityStart, to: index)
    path = ByteRange(from: index, to: question)
    let text = bytes.extracting(authority)
    for at in 0..<text.count where text[at] == ASCII.at { return .userInformation }
    return HostName(text) == nil ? .target : nil
  }
}
