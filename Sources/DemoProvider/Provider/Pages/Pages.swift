internal import Bytes
internal import HTTP
internal import HTTPServer

/// Makes the provider's pages.
struct Pages: Sendable {
  /// A page without a form. `detail`: a few technical words below.
  func message(_ heading: String, _ text: String, detail: String? = nil, status: Int = 200) -> DemoAnswer {
    let detail: Markup = detail.map { "<p class=\"quiet\">\($0)</p>" } ?? ""
    return page(heading, "<p role=\"status\">\(text)</p>\n\(detail)", status: status)
  }

  /// A page whose body is `content`. `formAction` lists the targets of its forms, redirects included: browsers check
  /// those too.
  func page(
    _ heading: String, title: String? = nil, _ content: Markup, footer: String? = nil, status: Int = 200,
    formAction: String = "'none'",
    hasScript: Bool = false
  ) -> DemoAnswer {
    var page = Page(heading, title: "\(title ?? heading) · demonstration provider", content)
    page.footer = footer.map { "Demonstration provider. \($0)" } ?? "Demonstration provider"
    page.formAction = formAction
    page.submitsItself = hasScript
    // With `no-referrer`, browsers would hide the origin of our own forms from us.
    page.referrerPolicy = "same-origin"
    return DemoAnswer(status: status, page)
  }
}

extension Pages {
  /// The page at the root, about what `directory` has.
  func root(_ directory: DemoDirectory, origin: String) -> DemoAnswer {
    let tenants: [Markup] = directory.tenants.map { tenant in
      let users: [Markup] = tenant.users.filter { $0.agent == nil }.map {
        "<li>\($0.displayName) <small>\($0.userName)</small></li>\n"
      }
      let applications: [Markup] = tenant.applications.map { application in
        let kind =
          if application.isPublic {
            "public client: people sign in"
          } else if application.blueprint != nil {
            "agent identity: its blueprint's tokens prove it"
          } else if application.isMachine {
            "managed identity: its machine's service hands out tokens"
          } else if !application.secrets.isEmpty {
            "client secret: acts for itself"
          } else {
            application.certificates.isEmpty ? "federated credential: acts for itself" : "certificate: acts for itself"
          }
        return "<li>\(application.displayName) <small>\(application.clientIdentifier), \(kind)</small></li>\n"
      }
      return """
        <h2>\(tenant.displayName)</h2>
        <p class="quiet">Issuer \(DiscoveryDocument.issuer(origin: origin, tenant: tenant.identifier))</p>
        <ul>
        \(users)</ul>
        <p>Applications</p>
        <ul>
        \(applications)</ul>

        """
    }
    let links: [Markup] = [
      (ProviderEndpoint.device, "Sign in a device with its code"),
      (.logout(tenant: DemoDirectory.Sample.tenant), "Sign out in this browser"),
      (.metadata(tenant: DemoDirectory.Sample.tenant), "The metadata that a client reads first"),
      (.keys(tenant: DemoDirectory.Sample.tenant), "The public keys"),
    ].map { endpoint, text in "<li><a href=\"\(endpoint.path)\">\(text)</a></li>\n" }
    let tasks: [Markup] = [
      (TestingTask.criticalEvent, "APIs refuse a user's earlier access tokens"),
      (.revoke, "end a user's sessions and refresh tokens"), (.withdraw, "forget what a user consented to"),
    ].map { task, text in "<li>\(text): <small>\(ProviderEndpoint.testing(task).path)</small></li>\n" }
    return page(
      "Demonstration provider", title: "Sample users",
      """
      <p>It issues tokens as Microsoft Entra does, to samples only, on this machine only.</p>
      <p class="note">The password of every user is <b>\(DemoDirectory.Sample.password)</b></p>
      \(tenants)<h2>In this browser</h2>
      <ul>
      \(links)</ul>
      <h2>In a terminal</h2>
      <p>POST with <small>{"user": "\(DemoDirectory.Sample.alice)"}</small> to:</p>
      <ul>
      \(tasks)</ul>

      """)
  }
}

extension Pages {
  /// The answer that carries `parameters`, and the request's state, to the application.
  func reply(to address: ReplyAddress, _ parameters: [(name: String, value: String)]) -> DemoAnswer {
    let all = parameters + (address.state.map { [(name: "state", value: $0)] } ?? [])
    switch address.mode {
    case .query:
      let query = all.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
      let separator = address.redirectURI.contains("?") ? "&" : "?"
      return DemoAnswer(seeOther: "\(address.redirectURI)\(separator)\(query)")
    case .formPost:
      return form(all, to: address.redirectURI)
    }
  }

  /// OAuth 2.0 Form Post Response Mode §2: sent by a script if there are scripts, else by its button.
  private func form(_ parameters: [(name: String, value: String)], to uri: String) -> DemoAnswer {
    let fields: [Markup] = parameters.map { "<input type=\"hidden\" name=\"\($0.name)\" value=\"\($0.value)\">\n" }
    let origin: String
    do throws(HTTPURLError) {
      origin = try HTTPURL(uri).origin
    } catch {
      origin = "'none'"
    }
    return page(
      "Going back to the application", title: "Continue",
      """
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
