// A secret's text, and signs of how it was copied. Nothing of it is ever repeated.

import Bytes

/// The text of a secret, without the line ends behind it.
struct SecretText {
  let bytes: ArraySlice<UInt8>

  init(_ text: ArraySlice<UInt8>) {
    bytes = text[..<(text.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? text.startIndex)]
  }

  /// The reason why no provider can have given this secret, with the cure; nil for a possible one.
  var mistake: String? {
    if bytes.allSatisfy({ $0 <= 0x20 }) { return "has blanks and line ends alone, which are no secret" }
    if bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF]) || bytes.contains(0) {
      return "is UTF-16, as PowerShell's '>' writes it: save it as UTF-8 without a byte order mark"
    }
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) {
      return "begins with a byte order mark, which an editor put there: save it as UTF-8 without one"
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if text.contains("-----BEGIN ") {
      return "holds a PEM block, which is a certificate or a key: name its file under 'credential: {certificate: …}'"
    }
    let lines = bytes.split(omittingEmptySubsequences: false) { $0 == 0x0A }.count
    if lines > 1 { return "has \(lines) lines, and a secret is one: keep the secret alone" }
    if let found = LookAlike.first(in: text) { return "contains \(found.words): copy the secret again" }
    if bytes.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) {
      return "contains a control character: copy the secret again"
    }
    return nil
  }

  /// The reason why it is probably not the provider's text, with the cure; nil if it may be.
  var suspicion: String? {
    guard let first = bytes.first, let last = bytes.last else { return nil }
    let blanks: [UInt8] = [0x20, 0x09]
    if blanks.contains(first) || blanks.contains(last) {
      return "begins or ends with a blank, which is part of it: remove the blank if the secret has none"
    }
    let quotes: [UInt8] = [UInt8(ascii: "'"), UInt8(ascii: "\"")]
    if bytes.count > 1, first == last, quotes.contains(first) {
      return "begins and ends with a quotation mark, which is part of it: remove both if the secret has none"
    }
    if first == UInt8(ascii: "{"), last == UInt8(ascii: "}") { return "looks like JSON: keep the secret's value alone" }
    let text = String(decoding: bytes, as: UTF8.self)
    let name = text.prefix { $0 != "=" }
    if name.count > 3, name.count < text.count - 1, name.contains("_"),
      name.allSatisfy({ $0.isASCII && ($0.isUppercase || $0.isNumber || $0 == "_") })
    {
      return "looks like NAME=VALUE: keep the value alone"
    }
    if isPlaceholder(text) || text == "THE CLIENT SECRET" { return "is a placeholder: put the secret in its place" }
    return nil
  }
}
