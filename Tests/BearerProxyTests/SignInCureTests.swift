// The exit status and the advice for each way in which a sign-in with `login` fails.

import Identity
import Platform
import Telemetry
import Testing
import Tokens

@testable import bearer_proxy

@Suite struct SignInCureTests {
  private static let declined = SignInError.declined(TokenErrorReply(error: "access_denied"))

  /// A failure, and the beginning of its advice; nil if the failure says it itself.
  static let rows: [(SignInError, isSilent: Bool, bearer_proxy.ExitStatus, String?)] = [
    (declined, false, .interactionRequired, nil),
    (.timedOut(seconds: 1), false, .failed, "If the browser showed an error, look there: client_id of "),
    (.codeExpired, false, .failed, "Run the command again for a new code."),
    (.cancelled, false, .failed, nil),
    (.answer(.state), false, .failed, "Run the command again, and finish the sign-in in the window that it opens."),
    (.unsupported(.browser), false, .failed, "Try --device-code."),
    (.unsupported(.deviceCode), false, .failed, "Sign in without --device-code"),
    (.otherAccount("bob"), false, .failed, "Sign in with the account that was meant"),
    (.notConfirmed("bob"), false, .interactionRequired, "If you did not sign in as that person"),
    (
      .refused(TokenErrorReply(error: "interaction_required")), true, .interactionRequired,
      "Nothing may be shown with --prompt none"
    ),
    (
      .refused(TokenErrorReply(error: "invalid_grant")), false, .interactionRequired,
      "Run the command again; codes are good once"
    ),
    (.refused(TokenErrorReply(error: "invalid_scope")), false, .failed, nil),
    (.listener(SystemError("bind", 98), port: 8400), false, .failed, "Another program may use that port."),
  ]

  @Test(arguments: rows)
  func `a failed sign-in has its status and its cure`(
    error: SignInError, isSilent: Bool, status: bearer_proxy.ExitStatus, cure: String?
  ) {
    #expect(error.exitStatus == status)
    let words = Cure(error, isSilent: isSilent)?.words()
    if let cure {
      #expect(words?.hasPrefix(cure) == true, "\(words ?? "none")")
    } else {
      #expect(words == nil)
    }
  }
}
