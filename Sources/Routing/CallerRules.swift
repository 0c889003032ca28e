// The rules by which a listener distinguishes callers: a process, a certificate, a secret in a field, a token of the
// caller's own, the sites whose pages may call. Each is decided here; the connection provides the facts.

package import Bytes
package import HTTP
package import Tokens

/// The rules for callers beyond the names of a listener. Every rule must hold.
package struct CallerRules: Sendable, Equatable {
  /// Users and groups, by number; a caller's process must run as one of either.
  package struct Peers: Sendable, Equatable {
    package var users: Set<UInt32>
    /// Primary groups.
    package var groups: Set<UInt32>

    package init(users: Set<UInt32>, groups: Set<UInt32>) {
      self.users = users
      self.groups = groups
    }
  }

  /// A field that carries a secret.
  package struct Header: Sendable, Equatable {
    /// The field's name as configured.
    package let name: String
    let nameBytes: [UInt8]
    package let value: Secret

    package init(name: String, value: Secret) {
      self.name = name
      nameBytes = Array(name.utf8)
      self.value = value
    }
  }

  package struct Bearer: Sendable, Equatable {
    package var authority: Authority
    /// Audiences, one of which the token must have.
    package var audiences: Set<String>
    /// Scopes, all of which the token must have.
    package var scopes: ScopeSet
    /// The URL by which callers reach the listener; nil if it does not describe itself to them.
    package var publicURL: HTTPURL?

    package init(
      authority: Authority, audiences: Set<String>, scopes: ScopeSet = .none, publicURL: HTTPURL? = nil
    ) {
      self.authority = authority
      self.audiences = audiences
      self.scopes = scopes
      self.publicURL = publicURL
    }
  }

  /// `anyone: true`: every caller that can connect, pages of other sites among them.
  package var isOpen: Bool
  /// The processes that may call; nil: any.
  package var peers: Peers?
  /// Subjects (RFC 2253) and subject alternative names (`DNS:`, `URI:`, `email:`), one of which a caller's certificate
  /// must have; empty: every certificate of the authorities; nil: no certificate is needed.
  package var certificateNames: Set<String>?
  /// The field that must occur once.
  package var header: Header?
  /// The caller's own token; nil if none is needed.
  package var bearer: Bearer?
  /// Origins (RFC 6454 §6.2, such as `https://app.example`) of other sites whose pages may call, in lower case.
  package var origins: [[UInt8]]

  /// No rule but the browsers'.
  package init(isOpen: Bool = false, origins: Set<String> = []) {
    self.isOpen = isOpen
    self.origins = origins.sorted().map { Array($0.utf8) }
  }

  /// True if a request that a browser marks as made by another site is refused.
  var refusesCrossSite: Bool { !isOpen }

  /// True if a rule distinguishes callers of other machines, or admits all of them.
  package var admitsOtherMachines: Bool { isOpen || header != nil || certificateNames != nil || bearer != nil }

  /// True if a rule names the calling program: a token of a caller's own names a person or a service behind it.
  package var namesPrograms: Bool { peers != nil || header != nil || certificateNames != nil }

  /// True if a rule distinguishes callers.
  package var tellCallersApart: Bool { peers != nil || header != nil || certificateNames != nil || bearer != nil }

  /// Judges a connection before any request: the process at the other end of a unix socket, and the names in the
  /// certificate that TLS has verified.
  package func judge(
    peer: (user: UInt32, group: UInt32)?, certificateNames names: [String]
  ) -> CallerRefusal? {
    if let peers {
      guard let peer, peers.users.contains(peer.user) || peers.groups.contains(peer.group) else { return .unknownPeer }
    }
    if let certificateNames, !certificateNames.isEmpty, certificateNames.isDisjoint(with: names) {
      return .unknownCertificate
    }
    return nil
  }

  /// Judges the field with the secret. It must occur exactly once: of two, another reader might use the other one.
  package func judgeHeader(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) -> CallerRefusal? {
    guard let header else { return nil }
    var found = 0
    var isRight = false
    for index in 0..<head.fields.count {
      let line = head.fields[index]
      let isHeader = line.known == .other && bytes.extracting(line.name).equalsIgnoringCase(header.nameBytes.span)
      if !isHeader { continue }
      found += 1
      isRight = header.value.matches(bytes.extracting(line.value))
    }
    return found == 1 && isRight ? nil : .missingSecret
  }

  /// The place of the token in the one `Authorization` field, if its scheme is `Bearer` (RFC 6750 §2.1).
  package static func tokenRange(in head: borrowing RequestHead, _ bytes: Span<UInt8>) -> ByteRange? {
    guard head.fields.count(of: .authorization) == 1, let line = head.fields.first(.authorization) else { return nil }
    guard bytes.extracting(line.value).startsIgnoringCase(with: "bearer ") else { return nil }
    return ByteRange(from: line.value.indices.lowerBound + 7, to: line.value.indices.upperBound)
  }

  package static func token(in head: borrowing RequestHead, _ bytes: Span<UInt8>) -> String? {
    tokenRange(in: head, bytes).map { bytes.extracting($0).text }
  }

  /// True if a line proves the caller's identity, so that it is not forwarded.
  package func consumes(_ line: FieldLine, _ bytes: Span<UInt8>) -> Bool {
    if line.known == .authorization { return bearer != nil }
    guard line.known == .other, let header else { return false }
    return bytes.extracting(line.name).equalsIgnoringCase(header.nameBytes.span)
  }

  /// True if a page of this origin may call.
  package func allows(origin: Span<UInt8>) -> Bool {
    for allowed in origins where origin.equalsIgnoringCase(allowed.span) { return true }
    return false
  }
}

/// The reason for refusing a caller.
package enum CallerRefusal: Error, Sendable, Hashable {
  /// `Host` is none of the listener's names: a page made its own name resolve to this address (DNS rebinding).
  case unknownHost
  /// The browser marks the request as another site's (`Sec-Fetch-Site`, or an `Origin` or `Referer` that is not the
  /// host).
  case crossSite
  /// A browser sends the request without naming the page behind it, or a person who opened the address.
  case unknownPage
  /// A browser fetches ahead of time for a page, and does not name the page as the listener's own.
  case speculative
  /// The script of a service worker, which would answer for every route of the listener.
  case serviceWorker
  /// The process runs as none of the listener's users and groups.
  case unknownPeer
  /// The certificate has none of the listener's subjects.
  case unknownCertificate
  /// The field with the secret is missing, occurs twice, or has another value.
  case missingSecret
  /// The caller's own token is missing or invalid.
  case untrustedToken
  /// The caller's own token lacks scopes that the listener demands.
  case missingScope
}
