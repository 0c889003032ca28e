// The fields by which a message names the hops that it has passed: `Via` (RFC 9110 §7.6.3) and `CDN-Loop` (RFC 8586).

internal import Bytes
internal import HTTP

/// Renders the hops so far, and this one behind them, as one field line.
enum PassedHops {
  static func writeVia(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ pseudonym: Pseudonym, into output: inout ByteBuffer
  ) {
    if !head.fields.contains(.via) {
      pseudonym.writeVia(head.version, into: &output)
      return
    }
    output.append("Via: ")
    writeList(.via, of: head, bytes, into: &output)
    writeOwn(head.version, pseudonym, into: &output)
  }

  /// Appends a request's `CDN-Loop`: a hop may remove `Via`, but must leave this one as it is (RFC 8586 §2).
  static func writeCDNLoop(
    _ head: borrowing RequestHead, _ bytes: Span<UInt8>, _ pseudonym: Pseudonym, into output: inout ByteBuffer
  ) {
    guard head.fields.contains(.cdnLoop) else {
      output.append(pseudonym.cdnLoop)
      return
    }
    output.append("CDN-Loop: ")
    writeList(.cdnLoop, of: head, bytes, into: &output)
    output.append(pseudonym.bytes)
    output.append("\r\n")
  }

  /// Appends a response's `Via`. If the response has passed this process before, it comes out of a loop: its hops up to
  /// there are named, and the laps are not. Otherwise the field would grow with each lap, until a hop refuses it.
  static func writeVia(
    _ head: borrowing ResponseHead, _ bytes: Span<UInt8>, _ credential: borrowing RequestCredential,
    _ pseudonym: Pseudonym, into output: inout ByteBuffer
  ) {
    if !head.fields.contains(.via) {
      pseudonym.writeVia(head.version, into: &output)
      return
    }
    output.append("Via: ")
    for index in 0..<head.fields.count where head.fields[index].known == .via {
      let line = head.fields[index]
      if credential.isRepeated(by: line, bytes) { continue }
      let hops = bytes.extracting(bytes.trimmedList(line.value))
      if let end = pseudonym.endOfMember(in: hops) {
        output.append(hops.extracting(first: end))
        output.append("\r\n")
        return
      }
      append(hops, to: &output)
    }
    writeOwn(head.version, pseudonym, into: &output)
  }

  private static func writeOwn(_ version: HTTPVersion, _ pseudonym: Pseudonym, into output: inout ByteBuffer) {
    output.append(version.number)
    output.append(" ")
    output.append(pseudonym.bytes)
    output.append("\r\n")
  }

  // The elements of a list field so far, each line with a comma behind it.
  private static func writeList(
    _ name: FieldName, of head: borrowing RequestHead, _ bytes: Span<UInt8>, into output: inout ByteBuffer
  ) {
    for index in 0..<head.fields.count where head.fields[index].known == name {
      append(bytes.extracting(bytes.trimmedList(head.fields[index].value)), to: &output)
    }
  }

  private static func append(_ hops: Span<UInt8>, to output: inout ByteBuffer) {
    if hops.isEmpty { return }
    output.append(hops)
    output.append(", ")
  }
}
