// Owns the provider's first page: who may sign in, which applications are registered, and what can be tried.

internal import HTTPServer

extension Pages {
  /// The page at the root, about what `directory` has.
  func root(_ directory: DemoDirectory, origin: String) -> DemoAnswer {
    let tenants: [Markup] = directory.tenants.map { tenant in
      let users: [Markup] = tenant.users.map { "<li>\($0.displayName) <small>\($0.userName)</small></li>\n" }
      let applications: [Markup] = tenant.applications.map { application in
        let kind = application.isPublic ? "public client: people sign in" : "client secret: acts for itself"
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
      "Sample users",
      """
      <h1>Demonstration provider</h1>
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
