// The form of the proxy's own answers: a document for programs, a page for a person who navigated here, a redirect if
// the route wants one. Status and challenge are the same for document and page.

internal import HTTP
internal import HTTPServer
internal import Identity
internal import Routing

enum ResponseAudience {
  case program
  /// A person, in a browser that is on its way to a page.
  case person
  /// A person whose browser is sending content, which a redirect would lose.
  case sender

  /// Browsers mark navigations (Fetch Metadata §2.2); an unmarked request, of a browser or another caller, is one if it
  /// asks for HTML.
  init(_ head: borrowing RequestHead, _ bytes: Span<UInt8>) {
    let person = head.method == .get || head.method == .head ? Self.person : .sender
    if let line = head.fields.first(.secFetchMode) {
      self = bytes.extracting(line.value).equalsIgnoringCase("navigate") ? person : .program
      return
    }
    self = .program
    var next = head.fields.index(of: .accept)
    while let index = next {
      if Self.asksForHTML(bytes.extracting(head.fields[index].value)) { self = person }
      next = head.fields.index(of: .accept, from: index + 1)
    }
  }

  /// True if `text/html` is among the media types, whatever its weight.
  private static func asksForHTML(_ value: Span<UInt8>) -> Bool {
    var start = 0
    for index in 0...value.count where index == value.count || value[index] == UInt8(ascii: ",") {
      var end = start
      while end < index, value[end] != UInt8(ascii: ";") { end += 1 }
      var first = start
      while first < end, value[first] == 0x20 || value[first] == 0x09 { first += 1 }
      while end > first, value[end - 1] == 0x20 || value[end - 1] == 0x09 { end -= 1 }
      if value.extracting(first..<end).equalsIgnoringCase("text/html") { return true }
      start = index + 1
    }
    return false
  }
}

/// An answer's status, content, and the fields that go with the content.
struct ErrorResponse {
  var status: Int
  var fields: [(name: StaticString, value: String)]
  var body: [UInt8] = []

  /// The form for a reader. `signIn` is the address at which a person signs in, if there is one.
  init(
    _ problem: ProblemDocument, route: Route?, requestID: String, signIn: String?, commands: OperatorCommands,
    audience: ResponseAudience
  ) {
    status = problem.status
    let name = route?.name ?? ""
    if audience == .program {
      fields = [("Content-Type", "application/problem+json"), ("Cache-Control", "no-store")]
      body = problem.json(route: name, requestID: requestID, signIn: signIn, commands: commands)
      return
    }
    if problem.interaction != nil, let signIn, audience == .person, route?.token.onInteractionRequired == .redirect {
      status = 303
      fields = [("Content-Type", Page.contentType), ("Location", signIn), ("Cache-Control", "no-store")]
      return
    }
    let page =
      if let interaction = problem.interaction {
        InteractionPage(
          title: problem.title, interaction: interaction, route: name, displayName: route?.displayName,
          signIn: signIn, requestID: requestID, commands: commands
        ).page
      } else {
        ProblemPage(problem: problem, route: name, requestID: requestID).page
      }
    (body, fields) = (page.html, page.fields)
  }
}
