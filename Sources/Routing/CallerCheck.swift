// Who may call, as far as the request itself tells: the host it was sent to, whether a browser says that another site
// is behind it, and the secret it carries. A proxy on loopback is within reach of every page in every browser on the
// machine.

package import Bytes
package import HTTP

/// The names a listener answers to and the rules for its callers. A class, so that a request takes one reference to it
/// instead of one to each of its parts.
package final class CallerCheck: Sendable {
  private let names: [[UInt8]]?
  package let rules: CallerRules
  /// Whether browsers may call by a name for which they send no Fetch metadata.
  private let hasUnmarkedNames: Bool
  /// Whether callers must show a secret in a field or a token of their own. No page can: who shows one is a program.
  private let needsProof: Bool
  /// `Vary` for the fields that every request is judged by.
  private let vary: [UInt8]

  /// `names`: hosts accepted, in lower case and without port; `nil` accepts any. `isReachedInClear`: whether browsers
  /// can connect without TLS.
  package init(names: [String]?, rules: CallerRules = CallerRules(), isReachedInClear: Bool = false) {
    self.names = names?.map { Array($0.utf8) }
    self.rules = rules
    needsProof = rules.header != nil || rules.bearer != nil
    var deciding = rules.header.map { [$0.name] } ?? []
    if rules.bearer != nil { deciding.append("Authorization") }
    if !rules.origins.isEmpty { deciding.append("Origin") }
    vary = deciding.flatMap { Array("Vary: \($0)\r\n".utf8) }
    hasUnmarkedNames =
      isReachedInClear && rules.refusesCrossSite && !needsProof
      && (self.names?.contains { !BrowserRequest.isMarked(host: $0.span) } ?? true)
  }

  /// Judges a request head.
  package func judge(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> CallerRefusal? {
    if !isNamed(head, bytes) { return .unknownHost }
    if hasUnmarkedNames || head.fields.containsAny(of: BrowserRequest.fields) || !head.fields.contains(.accept),
      let refusal = judgeBrowser(head, bytes)
    {
      return refusal
    }
    return rules.judgeHeader(head, bytes)
  }

  /// Whether the host is one of the listener's names.
  package func isNamed(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard let names else { return true }
    // Only HTTP/1.0 can leave the host out, which no browser does: there is no name that could have been rebound.
    if head.authority.isEmpty { return true }
    let host = bytes.extracting(head.host)
    for name in names where host.equalsIgnoringCase(name.span) { return true }
    return false
  }

  /// Judges what a browser says. Not inlined: programs say nothing of the kind.
  @inline(never)
  private func judgeBrowser(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> CallerRefusal? {
    let source = BrowserRequest.source(head, bytes, judgesUnmarked: hasUnmarkedNames)
    // Not a matter of who may call: the routes of a listener are kept apart for every caller.
    if source == .serviceWorker { return .serviceWorker }
    guard rules.refusesCrossSite else { return nil }
    return switch source {
    case .program, .person, .ownPage, .serviceWorker: nil
    case .otherPage: isAllowedOrigin(head, bytes) ? nil : .crossSite
    case .unknownPage: needsProof ? nil : .unknownPage
    case .speculation: .speculative
    }
  }

  /// Whether the other site is one whose pages may call. It says so itself, but a page cannot make a browser lie (Fetch
  /// §3.2).
  private func isAllowedOrigin(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    guard head.fields.count(of: .origin) == 1, let line = head.fields.first(.origin) else { return false }
    return rules.allows(origin: bytes.extracting(line.value))
  }

  /// Appends the fields of a request by which it was let in to an answer's `Vary`, so that no cache gives the answer to
  /// a caller that would not have been.
  package func writeVary(_ head: borrowing RequestHead, into output: inout ByteBuffer) {
    output.append(vary)
    if rules.refusesCrossSite, head.fields.contains(.secFetchSite) { output.append("Vary: Sec-Fetch-Site\r\n") }
  }

  /// Whether the answer to a request is for a page of another site that may read it (Fetch §3.3).
  package func answersAnotherSite(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> Bool {
    !rules.origins.isEmpty && isAllowedOrigin(head, bytes)
  }
}
