// Owns what becomes of `Authorization` in a request on its way out.

internal import Identity

/// With whose right a request goes out.
enum RequestCredential {
  /// The caller's own, if it sent one.
  case callers
  /// Nobody's: what the caller sent stays here.
  case none
  /// This token's.
  case bearer(BearerValue)

  var bearer: BearerValue? {
    if case .bearer(let value) = self { value } else { nil }
  }

  var replacesCallers: Bool {
    if case .callers = self { false } else { true }
  }
}
