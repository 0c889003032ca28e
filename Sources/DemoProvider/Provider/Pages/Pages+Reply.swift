// Owns how the end of a sign-in reaches the application: a redirect, or a form that the browser posts.

internal import Bytes
internal import HTTP
internal import HTTPServer

extension Pages {
  /// The answer that carries `parameters`, and the request's state, to the application.
  func reply(to address: ReplyAddress, _ parameters: [(name: String, value: String)]) -> DemoAnswer {
    let all = parameters + (address.state.map { [(name: "state", value: $0)] } ?? [])
    switch address.mode {
    case .query:
      let query = all.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
      let separator = address.redirectURI.contains("?") ? "&" : "?"
      var answer = DemoAnswer(status: 303, html: [])
      answer.fields += [
        ("location", "\(address.redirectURI)\(separator)\(query)"), ("referrer-policy", "no-referrer"),
      ]
      return answer
    case .formPost:
      return form(all, to: address.redirectURI)
    }
  }

  /// OAuth 2.0 Form Post Response Mode §2: sent by a script where there are scripts, else by its button.
  private func form(_ parameters: [(name: String, value: String)], to uri: String) -> DemoAnswer {
    let fields: [Markup] = parameters.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">\n" }
    let origin: String
    do throws(HTTPURLError) {
      origin = try HTTPURL(uri).origin
    } catch {
      origin = "'none'"
    }
    return page(
      "Continue",
      """
      <h1>Going back to the application</h1>
      <form method="post" action="\(uri)">
      \(fields)<p>If nothing happens, press the button.</p>
      <div class="buttons"><button class="main">Continue</button></div>
      </form>
      """, formAction: origin, hasScript: true)
  }

  /// The value as a query's: everything but unreserved characters in hexadecimal (RFC 3986 §2.3).
  private static func encoded(_ value: String) -> String {
    var text: [UInt8] = []
    for byte in value.utf8 { PercentEncoding.encode(byte, keeping: "-._~".utf8, into: &text) }
    return String(decoding: text, as: UTF8.self)
  }
}
