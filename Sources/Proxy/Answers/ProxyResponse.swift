// The form of the proxy's own answers: a document for programs, a page for a person who navigated here, a redirect if
// the route wants one. Status and challenge are the same for document and page.

internal import HTTP
internal import HTTPServer
internal import Identity
internal import Routing
internal import Telemetry
internal import Tokens

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
    for index in 0..<head.fields.count where head.fields[index].known == .accept {
      var types = ListElements(bytes, head.fields[index].value)
      while let type = types.next() {
        // Whatever its weight.
        var parts = ListElements(bytes, type, separator: ASCII.semicolon)
        if let name = parts.next(), bytes.extracting(name).equalsIgnoringCase("text/html") { self = person }
      }
    }
  }
}

/// An answer of the proxy's own: its status, its content, and the fields that go with the content.
struct ProxyResponse: Sendable {
  var status: Int
  /// Names as they are sent; the connection adds framing fields.
  var fields: [(name: StaticString, value: String)] = []
  var body: [UInt8] = []

  init(status: Int, fields: [(name: StaticString, value: String)] = [], body: [UInt8] = []) {
    (self.status, self.fields, self.body) = (status, fields, body)
  }

  /// A document for programs that get tokens.
  init(json: [UInt8]) {
    self.init(status: 200, fields: Self.tokenFields, body: json)
  }

  static let tokenFields: [(name: StaticString, value: String)] = [
    ("Content-Type", "application/json"), ("Cache-Control", "no-store"), ("Pragma", "no-cache"),
  ]

  /// Sends the browser on by GET.
  static func seeOther(_ location: String) -> ProxyResponse {
    ProxyResponse(
      status: 303,
      fields: [("Location", location), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")])
  }

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
    let page = problem.page(
      route: name, displayName: route?.displayName, requestID: requestID, signIn: signIn, commands: commands)
    (body, fields) = (page.html, page.fields)
  }
}

// The form of answers to gRPC calls: a head alone, as a server's that has no message ("Trailers-Only").

extension ProxyResponse {
  /// The answer to a call. `words` is the sentence about what a person must do.
  init(call failure: ExchangeFailure, _ problem: ProblemDocument, words: String?) {
    status = problem.status
    fields = [
      ("Content-Type", "application/grpc"), ("grpc-status", "\(GRPCStatus(failure, problem).rawValue)"),
      ("grpc-message", GRPCStatus.message("\(problem.title): \(words ?? problem.detail)")),
    ]
  }
}

extension GRPCStatus {
  /// The status for a failure. An upstream that has taken the request and does not answer in time may have acted on it,
  /// so that is not the status with which clients repeat a call.
  init(_ failure: ExchangeFailure, _ problem: ProblemDocument) {
    switch failure {
    case .delivery(.exchangeTimedOut), .delivery(.upstreamStalled): self = .deadlineExceeded
    case .suspectedLoop: self = .resourceExhausted
    default: self.init(http: problem.status)
    }
  }
}

extension ProblemDocument {
  /// The page for a person in place of the document. If a sign-in is missing, it has the scopes and the address, which
  /// is nil if there is no such page. `displayName`: the route's name for people; by default its name.
  func page(
    route: String, displayName: String?, requestID: String, signIn: String?, commands: OperatorCommands
  ) -> Page {
    guard let interaction else {
      let facts = [
        (name: "Problem", text: type.rawValue), ("Status", "\(status)"), ("Route", route), ("Request", requestID),
      ]
      return Page(
        title,
        """
        <p role="alert">\(detail)</p>
        \(Page.details(facts))
        """)
    }
    let scopes: [Markup] = interaction.scopes.words.map { "<li><code>\($0)</code></li>\n" }
    let list: Markup = scopes.isEmpty ? "" : "<p>It is for:</p>\n<ul>\n\(scopes)</ul>\n"
    let button: Markup = signIn.map { "<p><a class=\"button\" href=\"\($0)\">Sign in</a></p>\n" } ?? ""
    let name = displayName ?? route
    let unusable: Markup = name.isEmpty ? "" : "\(name) cannot be used yet. "
    let facts = [(name: "Route", text: route), ("Reason", interaction.reason.rawValue), ("Request", requestID)]
    return Page(
      title,
      """
      <p>\(unusable)\(interaction.words(route: route, link: signIn, commands))</p>
      \(button)\(Page.details(facts, list))
      """)
  }
}
