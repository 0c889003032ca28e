// The host of heads that no parser has read: the rule depends on the parts of a head alone.

import Bytes
import Testing

@testable import HTTP

@Suite struct RequestHostTests {
  struct Row: Sendable {
    var version = HTTPVersion.http11
    var scheme: HTTPScheme?
    /// The target's authority.
    var target = ""
    /// The values of the `Host` fields.
    var fields: [String] = []
    var expected: String
  }

  static let rows = [
    Row(fields: ["h"], expected: "h|h"), Row(fields: ["H.example:8080"], expected: "H.example:8080|H.example"),
    Row(fields: ["[::1]:80"], expected: "[::1]:80|::1"), Row(version: .http10, fields: ["h:1"], expected: "h:1|h"),
    Row(expected: "hostMissing"), Row(version: .http10, expected: "|"),
    Row(scheme: .http, target: "h", expected: "hostMissing"),
    Row(version: .http10, scheme: .http, target: "h:1", expected: "h:1|h"),
    Row(fields: ["h", "h"], expected: "hostRepeated"),
    Row(version: .http10, fields: ["h", "i"], expected: "hostRepeated"),
    Row(fields: [""], expected: "hostInvalid"), Row(fields: ["u@h"], expected: "hostInvalid"),
    Row(scheme: .http, target: "h", fields: ["a b"], expected: "hostInvalid"),
    // The target's spelling counts.
    Row(scheme: .http, target: "h:80", fields: ["H"], expected: "h:80|h"),
    Row(scheme: .https, target: "h", fields: ["h:443"], expected: "h|h"),
    Row(scheme: .https, target: "h", fields: ["h:80"], expected: "hostDisagrees"),
    Row(target: "h:443", fields: ["h:443"], expected: "h:443|h"),
    Row(target: "h:443", fields: ["h"], expected: "hostDisagrees"),
    Row(target: "h:x", fields: ["h"], expected: "target"),
  ]

  @Test(arguments: rows)
  func `a head has one host, or is refused`(row: Row) {
    var head = RequestHead()
    head.version = row.version
    head.target.scheme = row.scheme
    head.target.authority = ByteRange(from: 0, to: row.target.utf8.count)
    var bytes = Array(row.target.utf8)
    for field in row.fields {
      let start = bytes.count
      bytes += Array(field.utf8)
      let value = ByteRange(from: start, to: bytes.count)
      head.fields.append(FieldLine(name: ByteRange(), value: value, known: .host, isPlain: false))
    }
    var outcome: String
    do throws(RequestHeadError) {
      let place = try RequestHost(head, bytes.span)
      outcome = "\(text(place.authority, bytes.span))|\(text(place.host, bytes.span))"
    } catch {
      outcome = "\(error)"
    }
    #expect(outcome == row.expected)
  }
}
