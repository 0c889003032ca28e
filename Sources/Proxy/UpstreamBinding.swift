// Owns what an exchange finds out about its upstream connection: whether it may be authenticated for the caller, and then serves nobody
// else. What authenticates connections is ConnectionAuthentication's.

internal import HTTP

/// Whether an exchange may have authenticated its upstream connection.
struct UpstreamBinding {
  /// Whether the caller's own `Authorization` goes out.
  private let sendsCallersCredential: Bool
  /// Whether the connection serves no other caller from now on.
  private(set) var isBound: Bool

  /// What the request says.
  init(_ credential: RequestCredential, _ scratch: Scratch) {
    sendsCallersCredential = !credential.replacesCallers && scratch.requestParser.head.fields.contains(.authorization)
    isBound =
      sendsCallersCredential
      && scratch.requestInput.withBytes {
        ConnectionAuthentication.isUsed(by: scratch.requestParser.head.fields, in: $0)
      }
  }

  /// Notes what the response says. Nearly all say nothing.
  @inline(__always)
  mutating func note(_ scratch: Scratch) {
    if sendsCallersCredential || scratch.responseParser.head.fields.contains(.wwwAuthenticate) { noteAnswer(scratch) }
  }

  @inline(never)
  private mutating func noteAnswer(_ scratch: Scratch) {
    if isBound { return }
    isBound = scratch.responseInput.withBytes {
      ConnectionAuthentication.isAnswered(by: scratch.responseParser.head.fields, in: $0)
    }
  }
}
