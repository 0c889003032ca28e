import Bytes
import HTTPClient
import Tokens

@testable import Identity

// Errors as callers are told them: of a token endpoint's answer only the OAuth error, or the status.

extension AcquisitionError {
  static func down(_ status: Int, retryAfter seconds: Int64 = 1) -> AcquisitionError {
    AcquisitionError(.token(TokenFailure(.unintelligible, status: status)), retryAfter: seconds)
  }

  static func rejected(_ reply: TokenErrorReply, retryAfter seconds: Int64) -> AcquisitionError {
    AcquisitionError(.token(TokenFailure(.refused(reply), status: 400)), retryAfter: seconds)
  }

  /// A refusal that pauses requests for a minute unless told.
  static func rejected(_ error: String, retryAfter seconds: Int64 = 60) -> AcquisitionError {
    rejected(TokenErrorReply(error: error), retryAfter: seconds)
  }

  static func unreached(_ error: FetchError) -> AcquisitionError {
    AcquisitionError(.unreached(error), retryAfter: 1)
  }

  var told: AcquisitionError {
    switch kind {
    case .providerUnavailable(let status?): .down(status, retryAfter: retryAfter ?? 0)
    case .rejected(let reply): .rejected(reply, retryAfter: retryAfter ?? 0)
    case .providerUnavailable, .unusableMetadata, .cacheUnavailable, .interactionRequired, .assertionRefused: self
    }
  }
}

extension TokenEvent {
  /// The error that a failed acquisition told, and the time until which a held token serves.
  var failure: (error: AcquisitionError, kind: TokenErrorClass, servedUntil: UnixTime?)? {
    guard case .failed(let error, let kind, let servedUntil) = outcome else { return nil }
    return (error.told, kind, servedUntil)
  }
}
