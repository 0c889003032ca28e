internal import HTTPServer

/// A page of the loopback listener. Names are escaped; nothing else of a request or an answer is in a page.
enum LoopbackPage: Sendable, Hashable {
  /// The person is signed in, and it is kept.
  case kept(name: String, application: String, purpose: String? = nil)
  /// The terminal asks whether it is kept.
  case askedElsewhere(name: String, application: String)
  /// The page asks; the form goes to `decision`.
  case asked(name: String, application: String, decision: String)
  /// The person does not want it kept.
  case dropped
  /// The answer ends the sign-in without a code.
  case failed
  /// The request is no answer to this sign-in, which continues.
  case wrongAnswer
  /// Leads to the identity provider.
  case begin(address: String)
  /// The address that begins the sign-in was opened before.
  case begunBefore
  case answeredBefore
  /// Another user of this machine made the connection.
  case otherUser
  /// The request is for another host.
  case foreign
  case nothingHere
  /// Neither GET nor POST.
  case method
  /// A form that no provider sends.
  case tooLarge

  private var content: (status: Int, title: String, text: Markup) {
    switch self {
    case .kept(let name, let application, let purpose):
      (
        200, "You are signed in",
        """
        <p role="status"><b>\(name)</b> is signed in to <b>\(application)</b>\(Self.use(purpose)).</p>
        <p>You can close this page.</p>
        """
      )
    case .askedElsewhere(let name, let application):
      (
        200, "Back to the terminal",
        """
        <p role="status"><b>\(name)</b> signed in to <b>\(application)</b>. The terminal asks whether to keep \
        it.</p>
        <p>You can close this page.</p>
        """
      )
    case .asked(let name, let application, let decision):
      (
        200, "Is this you?",
        """
        <p><b>\(name)</b> signed in to <b>\(application)</b>.</p>
        <form method="post" action="\(decision)">
        <div class="buttons"><button class="main" name="keep" value="yes">Keep this sign-in</button>
        <button name="keep" value="no">Discard it</button></div>
        </form>
        """
      )
    case .dropped:
      (200, "Discarded", "<p role=\"status\">Nothing of this sign-in was kept.</p>\n<p>You can close this page.</p>")
    case .failed:
      (
        400, "Not signed in",
        "<p role=\"alert\">The sign-in did not succeed. The terminal says why.</p>\n<p>You can close this page.</p>"
      )
    case .wrongAnswer:
      (
        400, "Not signed in",
        "<p>This is no answer to the sign-in that waits here. Finish the sign-in in the window that began it.</p>"
      )
    case .begin: (303, "Sign in", "<p>You are sent to the identity provider.</p>")
    case .begunBefore:
      (
        410, "Opened before",
        """
        <p>This address was opened before, and works once. If that was not you, stop the command in the terminal and \
        start it again.</p>
        """
      )
    case .answeredBefore: (400, "Answered before", "<p>The answer to this sign-in has come before.</p>")
    case .otherUser: (403, "Not for this user", "<p>The user who started the sign-in has to open this address.</p>")
    case .nothingHere: Self.nothing(404)
    case .method: Self.nothing(405)
    case .tooLarge: Self.nothing(413)
    case .foreign: Self.nothing(421)
    }
  }

  private static func nothing(_ status: Int) -> (Int, String, Markup) {
    (status, "Nothing here", "<p>This address waits for a sign-in's answer.</p>")
  }

  private static func use(_ purpose: String?) -> Markup {
    purpose.map { ", and <b>\($0)</b> can be used" } ?? ""
  }

  var response: ServerResponse {
    let (status, title, text) = content
    var page = Page(title, text)
    if case .asked = self { page.formAction = "'self'" }
    // The address from which the provider sends the browser on has the code in it.
    switch self {
    case .kept, .askedElsewhere, .asked, .failed, .wrongAnswer, .answeredBefore: page.hidesQuery = true
    default: break
    }
    var response = page.response(status)
    switch self {
    case .begin(let address): response.fields.append(("Location", address))
    // The wait for the browser is over.
    case .kept, .askedElsewhere, .dropped, .failed: response.isLast = true
    default: break
    }
    return response
  }
}
