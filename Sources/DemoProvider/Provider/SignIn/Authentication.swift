// Owns how, and when, a person proved who they are, and what tokens say about it. When more is needed is
// `SecondFactorRule`'s.

internal import Bytes
internal import Tokens

/// A person's proof.
struct Authentication: Hashable {
  /// When the password was typed.
  var at: UnixTime
  /// Whether a one-time code was typed too.
  var isTwofold = false

  /// The authentication contexts that the code is good for.
  static let contexts = ["c1"]
  /// `acr` of who typed the code.
  static let twofold = "mfa"

  /// `acr`.
  var level: String { isTwofold ? Self.twofold : "pwd" }
  /// `amr` (RFC 8176).
  var methods: [String] { isTwofold ? ["pwd", "otp", "mfa"] : ["pwd"] }
  /// `acrs`.
  var contexts: [String] { isTwofold ? Self.contexts : [] }
}
