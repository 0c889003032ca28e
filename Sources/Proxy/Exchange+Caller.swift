// Owns the part of an exchange that is about the caller alone: their own token.

internal import HTTP
internal import Identity
internal import Network
internal import Telemetry
internal import Tokens

extension Exchange {
  /// How many tokens a loop remembers to have believed.
  private static let rememberedTokens = 4096

  /// Judges the caller's own token where the listener demands one. A loop asks about each token once.
  func judgeCallerToken(_ connection: DownstreamConnection, _ scratch: Scratch) async throws(ExchangeFailure) {
    guard let check = connection.ingress.rules.bearer else { return }
    let state = connection.state
    guard let text = scratch.requestInput.withBytes({ CallerRules.token(in: scratch.requestParser.head, $0) }) else {
      throw .caller(.untrustedToken)
    }
    let digest: [UInt8]
    do throws(CryptoError) {
      // Listeners may trust different issuers, and a token may be bound to a certificate, so the digest is of all three.
      digest = try SHA256.digest(
        of: Array("\(ObjectIdentifier(check).hashValue) ".utf8) + connection.certificateDigest + Array(text.utf8))
    } catch {
      throw .callerIssuerUnavailable
    }
    let now = UnixTime(state.wallClock().seconds)
    if let until = state.believedTokens[digest], now < until { return }
    do throws(CallerTokenRefusal) {
      let until = try await RequestScope.around(scratch.scope()) { () async throws(CallerTokenRefusal) in
        try await check.accept(text, certificate: connection.certificateDigest)
      }
      if state.believedTokens.count >= Self.rememberedTokens { state.believedTokens = [:] }
      state.believedTokens[digest] = until
    } catch {
      throw error == .untrusted ? .caller(.untrustedToken) : .callerIssuerUnavailable
    }
  }
}
