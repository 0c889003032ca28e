// Connections that a caller may have authenticated (NTLM, Negotiate) serve no other caller. ConnectionAuthentication
// detects the authentication.

internal import Bytes
internal import HTTP
internal import HTTPClient
internal import Routing

struct UpstreamBinding {
  /// True if the caller's own `Authorization` goes out.
  private var sendsCallersCredential = false
  /// True if the connection serves no other caller from now on.
  private(set) var isBound = false

  init() {}

  init(_ request: borrowing RequestContext) {
    sendsCallersCredential = !request.credential.replacesCallers && request.head.fields.contains(.authorization)
    isBound =
      sendsCallersCredential
      && request.headBytes.withBytes { ConnectionAuthentication.isUsed(by: request.head.fields, in: $0) }
  }

  /// Reads the response. Nearly all have no such field.
  @inline(__always)
  mutating func note(_ attempt: UpstreamAttempt) {
    if sendsCallersCredential || attempt.head.fields.contains(.wwwAuthenticate) { noteAnswer(attempt) }
  }

  @inline(never)
  private mutating func noteAnswer(_ attempt: UpstreamAttempt) {
    if isBound { return }
    isBound = attempt.input.withBytes {
      ConnectionAuthentication.isAnswered(by: attempt.head.fields, in: $0)
    }
  }
}

/// The upstream connections that belong to one caller's connection: one for each origin at most. Empty for nearly all
/// callers.
struct BoundUpstreams {
  private var entries: [(pool: OriginPool, connection: UpstreamConnection)] = []

  /// The caller's own connection to a pool's origin, if there is one that can still be used.
  @inline(__always)
  mutating func take(of pool: OriginPool) -> UpstreamConnection? {
    entries.isEmpty ? nil : taken(of: pool)
  }

  @inline(never)
  private mutating func taken(of pool: OriginPool) -> UpstreamConnection? {
    guard let index = entries.firstIndex(where: { $0.pool === pool }) else { return nil }
    let connection = entries.remove(at: index).connection
    return pool.lease(reserved: connection) ? connection : nil
  }

  /// Keeps a connection whose last exchange ended in order on both sides.
  @inline(never)
  mutating func keep(_ connection: UpstreamConnection, of pool: OriginPool) {
    if let other = taken(of: pool) { pool.giveBack(other, .unusable) }
    if pool.giveBack(connection, .reserved) { entries.append((pool, connection)) }
  }

  /// Closes the connections to origins that the configuration no longer knows.
  mutating func closeRetired() {
    entries.removeAll { entry in
      if entry.pool.isRetired { entry.pool.closeReserved(entry.connection) }
      return entry.pool.isRetired
    }
  }

  mutating func close() {
    for entry in entries { entry.pool.closeReserved(entry.connection) }
    entries.removeAll()
  }
}
