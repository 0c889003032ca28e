// Decides from the request who may call: by its host, by the browser's fields about another site, and by its secret. A
// proxy on loopback is within reach of every page in every browser on the machine.

package import Bytes
package import HTTP

/// The names of a listener and the rules for its callers. A class, so that a request takes one reference to it instead
/// of one to each of its parts.
package final class CallerCheck: Sendable {
  private let names: [[UInt8]]?
  package let rules: CallerRules
  /// True if browsers may call by a name for which they send no Fetch metadata.
  private let hasUnmarkedNames: Bool
  /// True if callers must show a secret in a field or a token of their own. No page can: such a caller is a program.
  private let needsProof: Bool
  /// `Vary` for the fields by which every request is judged.
  private let vary: VaryFields

  /// `names`: hosts accepted, in lower case and without port; `nil` accepts any. `isReachedInClear`: browsers can
  /// connect without TLS.
  package init(names: [String]?, rules: CallerRules = CallerRules(), isReachedInClear: Bool = false) {
    self.names = names?.map { Array($0.utf8) }
    self.rules = rules
    needsProof = rules.header != nil || rules.bearer != nil
    var deciding = rules.header.map { [$0.name] } ?? []
    if rules.bearer != nil { deciding.append("Authorization") }
    if !rules.origins.isEmpty { deciding.append("Origin") }
    vary = VaryFields(deciding)
    hasUnmarkedNames =
      isReachedInClear && rules.refusesCrossSite && !needsProof
      && (self.names?.contains { !BrowserRequest.isMarked(host: $0.span) } ?? true)
  }

  package func judge(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> CallerRefusal? {
    if !isNamed(head, bytes) { return .unknownHost }
    if hasUnmarkedNames || head.fields.containsAny(of: BrowserRequest.fields) || !head.fields.contains(.accept),
      let refusal = judgeBrowser(head, bytes)
    {
      return refusal
    }
    return rules.judgeHeader(head, bytes)
  }

  /// True if the host is one of the listener's names.
  package func isNamed(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard let names else { return true }
    // Only HTTP/1.0 can omit the host, which no browser does: there is no name that could have been rebound.
    if head.authority.isEmpty { return true }
    let host = bytes.extracting(head.host)
    for name in names where host.equalsIgnoringCase(name.span) { return true }
    return false
  }

  /// Judges the fields of browsers. Not inlined: programs send none.
  @inline(never)
  private func judgeBrowser(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> CallerRefusal? {
    let source = BrowserRequest.source(head, bytes, judgesUnmarked: hasUnmarkedNames)
    // Independent of the rules for callers: the routes of a listener are kept apart for every caller.
    if source == .serviceWorker { return .serviceWorker }
    guard rules.refusesCrossSite else { return nil }
    return switch source {
    case .program, .person, .ownPage, .serviceWorker: nil
    case .otherPage: isAllowedOrigin(head, bytes) ? nil : .crossSite
    case .unknownPage: needsProof ? nil : .unknownPage
    case .speculation: .speculative
    }
  }

  /// True if the other site is one whose pages may call. The field names it, and a page cannot make a browser lie
  /// (Fetch §3.2).
  private func isAllowedOrigin(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard head.fields.count(of: .origin) == 1, let line = head.fields.first(.origin) else { return false }
    return rules.allows(origin: bytes.extracting(line.value))
  }

  /// Adds the fields by which a request was admitted to the `Vary` of an answer with these fields, so that no cache
  /// gives the answer to a caller that is not admitted.
  package func writeVary(
    _ head: borrowing RequestHead, beside fields: borrowing FieldTable, _ bytes: Span<UInt8>,
    into output: inout ByteBuffer
  ) {
    vary.write(beside: fields, bytes, into: &output)
    if rules.refusesCrossSite, head.fields.contains(.secFetchSite) {
      Self.browserVary.write(beside: fields, bytes, into: &output)
    }
  }

  private static let browserVary = VaryFields(["Sec-Fetch-Site"])

  /// True if the answer to a request is for a page of another site that may read it (Fetch §3.3).
  package func answersAnotherSite(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    !rules.origins.isEmpty && isAllowedOrigin(head, bytes)
  }
}
