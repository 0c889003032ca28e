internal import Bytes
internal import HTTP
internal import Platform
internal import Tokens

/// Why a body is not a form.
enum FormError: Error, Hashable {
  /// A percent sign without two hexadecimal digits, or bytes that are no UTF-8.
  case malformed
  /// A parameter that stands there twice (RFC 6749 §3.2).
  case duplicate(String)
}

/// The parameters of a form. One with an empty value counts as absent (RFC 6749 §3.2).
struct FormFields: Hashable {
  private var values: [String: String] = [:]

  init(_ body: [UInt8]) throws(FormError) {
    var names: Set<String> = []
    for pair in body.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let name = try Self.decoded(parts[0])
      guard names.insert(name).inserted else { throw .duplicate(name) }
      guard parts.count == 2, !parts[1].isEmpty else { continue }
      values[name] = try Self.decoded(parts[1])
    }
  }

  subscript(name: String) -> String? { values[name] }

  /// The text behind a percent-encoded one, in which a plus stands for a space.
  static func decoded(_ bytes: some Collection<UInt8>) throws(FormError) -> String {
    guard let decoded = PercentEncoding.decoded(bytes, isForm: true),
      let text = String(validating: decoded, as: UTF8.self)
    else { throw .malformed }
    return text
  }
}

extension FormFields {
  /// The form of a request's body or query, with the provider's errors.
  init(request bytes: [UInt8]) throws(ProviderError) {
    do throws(FormError) {
      try self.init(bytes)
    } catch {
      switch error {
      case .malformed: throw .malformedBody
      case .duplicate(let name): throw .duplicateParameter(name)
      }
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
      // What is 240 or more would make the first letters likelier than the others.
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
