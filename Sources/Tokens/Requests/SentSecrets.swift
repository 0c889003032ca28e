package import Bytes

/// The secrets of one request to a provider. Some providers repeat them, as sent or in another encoding: nothing in the
/// answer may show them in a log, a status or an answer.
package struct SentSecrets: Sendable {
  private let secrets: [Secret]

  /// For a request without secrets.
  package static let none = SentSecrets([])

  /// Bytes of the shortest client secret that is searched for, and that a configuration may have. Shorter words are in
  /// every answer (`code`, `scope`, `token`): withholding texts with them would leave nothing.
  package static let shortest = 6

  /// Secrets that a request carried.
  package init(_ secrets: [Secret]) {
    self.secrets = secrets.filter { !$0.isEmpty }
  }

  /// Members that are meant to be secret. Other members may be logged or shown.
  private static let secretMembers: Set<String> = [
    "access_token", "refresh_token", "id_token", "client_info", "device_code",
  ]

  /// The members of an answer without those that repeat a secret.
  func withholding(_ members: [String: JSONValue]) -> [String: JSONValue] {
    if secrets.isEmpty { return members }
    return members.filter { Self.secretMembers.contains($0.key) || !isRepeated(in: $0.value) }
  }

  private func isRepeated(in value: JSONValue) -> Bool {
    switch value {
    case .null, .bool: false
    case .integer(let number): isRepeated(in: "\(number)")
    case .number(let number): isRepeated(in: "\(number)") || isRepeated(in: value.canonicalText())
    case .string(let text): isRepeated(in: text)
    case .array(let values): values.contains { isRepeated(in: $0) }
    case .object(let members): members.contains { isRepeated(in: $0.key) || isRepeated(in: $0.value) }
    }
  }

  /// True if a text, decoded in whatever way, shows one of the secrets or a long part of it.
  package func isRepeated(in text: String) -> Bool {
    if secrets.isEmpty { return false }
    // So long a text is not examined: decoding takes time.
    guard text.utf8.count <= Self.longestText else { return true }
    let readings = Readings(of: Array(text.utf8)).all
    return secrets.contains { secret in readings.contains { Self.shows(secret, $0) } }
  }

  private static let longestText = 16 * 1024
  /// Bytes in a row that must not be shown, from anywhere in a secret: a provider may cut it.
  private static let telling = 12

  private static func shows(_ secret: Secret, _ reading: [UInt8]) -> Bool {
    let bytes = secret.bytes
    guard bytes.count > telling else { return contains(reading.span, bytes) }
    // The words of the text, eight bytes each, in a set: a token is long and may be cut anywhere.
    var words: Set<UInt64> = []
    for start in 0..<max(reading.count - 7, 0) { words.insert(word(reading.span, start)) }
    for start in 0...(bytes.count - telling)
    where words.contains(word(bytes, start)) && words.contains(word(bytes, start + telling - 8))
      && contains(reading.span, bytes.extracting(start..<(start + telling)))
    {
      return true
    }
    return false
  }

  private static func word(_ bytes: Span<UInt8>, _ start: Int) -> UInt64 {
    var word: UInt64 = 0
    for index in start..<(start + 8) { word = word << 8 | UInt64(bytes[index]) }
    return word
  }

  private static func contains(_ text: Span<UInt8>, _ part: Span<UInt8>) -> Bool {
    guard part.count <= text.count else { return false }
    for start in 0...(text.count - part.count) {
      var length = 0
      while length < part.count, text[start + length] == part[length] { length += 1 }
      if length == part.count { return true }
    }
    return false
  }
}

extension TokenRequest {
  /// The secrets that the provider could repeat.
  package var sentSecrets: SentSecrets { SentSecrets(grant.secrets + application.credential.secrets) }
}

extension ClientCredential? {
  /// The secrets to search for in answers.
  var secrets: [Secret] {
    switch self {
    case .secret(let secret)?: secret.count < SentSecrets.shortest ? [] : [secret]
    case .assertion(let assertion, _)?: [assertion]
    case nil: []
    }
  }
}

extension TokenGrant {
  fileprivate var secrets: [Secret] {
    switch self {
    case .clientCredentials: []
    case .authorizationCode(let code, _, let verifier): [code, verifier]
    case .deviceCode(let code): [code]
    case .refreshToken(let token), .jwtBearer(let token, _), .userFederation(let token, _): [token]
    case .tokenExchange(let subject, _, let actor): [subject] + (actor.map { [$0] } ?? [])
    }
  }
}

/// The decoded forms of a text, by one decoder or several in turn.
private struct Readings {
  private(set) var all: Set<[UInt8]>

  init(of text: [UInt8]) {
    // Text in text, base64 of a Basic credential in that, and the form-encoded halves in there (RFC 6749 §2.3.1).
    all = Self.unescaped([text], times: 2)
    let decoded = Self.unescaped(Set(all.flatMap(Self.base64)), times: 1)
    all.formUnion(decoded)
  }

  private static func unescaped(_ texts: Set<[UInt8]>, times: Int) -> Set<[UInt8]> {
    var all = texts
    var latest = texts
    for _ in 0..<times {
      latest = Set(
        latest.flatMap { [percent($0, isForm: false), percent($0, isForm: true), backslashes($0), entities($0)] }
      )
      .subtracting(all)
      all.formUnion(latest)
    }
    return all
  }

  /// Percent-encodings decoded, in either case of their digits. Anything else stays as it is.
  private static func percent(_ text: [UInt8], isForm: Bool) -> [UInt8] {
    replacing(text) { rest in
      switch rest.first {
      case UInt8(ascii: "%"):
        hexadecimal(rest.dropFirst().prefix(2), digits: 2).map { ([UInt8(truncatingIfNeeded: $0)], 3) }
      case UInt8(ascii: "+") where isForm: ([UInt8(ascii: " ")], 1)
      default: nil
      }
    }
  }

  /// The escapes of JSON (RFC 8259 §7), and `\x` of programming languages.
  private static func backslashes(_ text: [UInt8]) -> [UInt8] {
    replacing(text) { rest in
      guard rest.first == UInt8(ascii: "\\"), let kind = rest.dropFirst().first else { return nil }
      switch kind {
      case UInt8(ascii: "u"): return hexadecimal(rest.dropFirst(2).prefix(4), digits: 4).map { (utf8($0), 6) }
      case UInt8(ascii: "x"): return hexadecimal(rest.dropFirst(2).prefix(2), digits: 2).map { (utf8($0), 4) }
      case UInt8(ascii: "n"): return ([0x0A], 2)
      case UInt8(ascii: "r"): return ([0x0D], 2)
      case UInt8(ascii: "t"): return ([0x09], 2)
      case UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "\""), UInt8(ascii: "'"): return ([kind], 2)
      default: return nil
      }
    }
  }

  /// The character references of HTML that servers write for markup characters.
  private static func entities(_ text: [UInt8]) -> [UInt8] {
    replacing(text) { rest in
      guard rest.first == UInt8(ascii: "&"), let end = rest.prefix(10).firstIndex(of: UInt8(ascii: ";")) else {
        return nil
      }
      let name = String(decoding: rest[(rest.startIndex + 1)..<end], as: UTF8.self).lowercased()
      let length = end + 1 - rest.startIndex
      if let character = markup[name] { return (Array(character.utf8), length) }
      let isHexadecimal = name.hasPrefix("#x")
      guard name.hasPrefix("#"),
        let code = UInt32(name.dropFirst(isHexadecimal ? 2 : 1), radix: isHexadecimal ? 16 : 10)
      else { return nil }
      return (utf8(code), length)
    }
  }

  private static let markup = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]

  /// The decoded runs of base64's letters, in either alphabet, with padding or without, at every offset of the encoder.
  private static func base64(_ text: [UInt8]) -> [[UInt8]] {
    text.split { Base64.value(of: $0) == nil }.filter { $0.count >= 4 }.flatMap { run in
      (0..<4).map { Base64.wholeBytes(of: run.dropFirst($0)) }
    }
  }

  /// A text with its encodings replaced: `decode` returns the value at the beginning of the rest, and its length.
  private static func replacing(
    _ text: [UInt8], _ decode: (ArraySlice<UInt8>) -> (bytes: [UInt8], length: Int)?
  ) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(text.count)
    var rest = text[...]
    while let byte = rest.first {
      if let (bytes, length) = decode(rest) {
        result += bytes
        rest = rest.dropFirst(length)
      } else {
        result.append(byte)
        rest = rest.dropFirst()
      }
    }
    return result
  }

  private static func hexadecimal(_ digits: ArraySlice<UInt8>, digits count: Int) -> UInt32? {
    guard digits.count == count else { return nil }
    var value: UInt32 = 0
    for digit in digits {
      guard let number = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
      value = value << 4 | UInt32(number)
    }
    return value
  }

  private static func utf8(_ code: UInt32) -> [UInt8] {
    Unicode.Scalar(code).map { Array(String($0).utf8) } ?? []
  }
}
