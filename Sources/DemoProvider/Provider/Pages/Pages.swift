internal import HTTPServer

/// What a page that only tells something tells.
struct PageMessage {
  var heading: String
  var text: String
  /// A few technical words below.
  var detail: String?
}

/// Makes the provider's pages.
struct Pages: Sendable {
  /// A page without a form.
  func message(_ message: PageMessage, status: Int) -> DemoAnswer {
    let detail: Markup = message.detail.map { "<p class=\"quiet\">\($0)</p>" } ?? ""
    return page(
      message.heading, "<h1>\(message.heading)</h1>\n<p role=\"status\">\(message.text)</p>\n\(detail)", status: status)
  }

  /// A page whose body is `content`. `formAction` lists where its forms may lead, redirects included: browsers check
  /// those too.
  func page(
    _ title: String, _ content: Markup, footer: String? = nil, status: Int = 200, formAction: String = "'none'",
    hasScript: Bool = false
  ) -> DemoAnswer {
    var page = Page(title: "\(title) · demonstration provider", content: content)
    page.footer = footer.map { "Demonstration provider. \($0)" } ?? "Demonstration provider"
    page.formAction = formAction
    page.submitsItself = hasScript
    // With `no-referrer`, browsers would hide the origin of our own forms from us.
    page.referrerPolicy = "same-origin"
    var answer = DemoAnswer(status: status, html: page.html)
    answer.fields += page.fields.map { ("\($0.name)".lowercased(), $0.value) } + [("cache-control", "no-store")]
    return answer
  }
}
