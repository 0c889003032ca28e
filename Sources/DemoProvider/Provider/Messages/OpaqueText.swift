internal import Bytes
internal import Platform
internal import Tokens

extension ReplyForm {
  /// The form of a request's body or query, with the provider's errors.
  init(request bytes: [UInt8]) throws(ProviderError) {
    do throws(Problem) {
      try self.init(bytes)
    } catch {
      throw error == .repeated ? .duplicateParameter : .malformedBody
    }
  }
}

/// Random texts.
enum OpaqueText {
  /// 256 bits, in base64url.
  static func make() throws(ProviderError) -> String {
    try Base64URL.encode(bytes(32))
  }

  /// Eight consonants in two groups: easily typed, no word, 34 bits (RFC 8628 §6.1).
  static func userCode() throws(ProviderError) -> String {
    let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
    var code = ""
    while code.count < 8 {
      // Values of 240 and more would make the first letters likelier than the others.
      for byte in try bytes(16) where byte < 240 && code.count < 8 { code.append(letters[Int(byte) % letters.count]) }
    }
    return "\(code.prefix(4))-\(code.suffix(4))"
  }

  /// Six digits.
  static func oneTimeCode() throws(ProviderError) -> String {
    // 32 bits over a million: no digit is noticeably likelier.
    let number = try bytes(4).reduce(0) { $0 << 8 | Int($1) } % 1_000_000
    let digits = String(number)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }

  private static func bytes(_ count: Int) throws(ProviderError) -> [UInt8] {
    do throws(CryptoError) {
      return try RandomBytes.make(count)
    } catch {
      throw .signing(error)
    }
  }
}
