// Every recipe of config/recipes, run: the test's addresses in place of the examples', and nothing else changed.
// TutorialTests has the configurations of README.md.

import DemoProvider
import FoundationEssentials
import TestSupport
import Testing

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct RecipeTests {
  private typealias Sample = DemoDirectory.Sample
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  private static let entra = "https://login.microsoftonline.com/contoso.onmicrosoft.com"
  private static let noID = "00000000-0000-0000-0000-000000000000"

  /// Runs a recipe, which `check` accepts.
  private func start(_ recipe: String, environment: [String: String] = [:]) async throws -> ProxyUnderTest {
    let proxy = try await ProxyUnderTest(in: directory, environment: environment, recipe)
    let check = try await proxy.command(["check"])
    try #require(check.status == 0, "\(check.errors)")
    return proxy
  }

  /// Trust in the sample's authority for providers and upstreams, which the clouds' own need not have.
  private func trusting(_ recipe: String, _ file: String) -> String {
    let tls = "tls: {ca_file: \"\(file)\"}"
    return recipe.replacing(/\n    client_id: .*/) { "\($0.output)\n    \(tls)" } + "defaults: {\(tls)}\n"
  }

  private func secret(_ text: String, _ name: String) async throws -> String {
    ProxyLedger.current?.add(secret: text)
    let file = try directory.write(text + "\n", to: name)
    try await succeed(["chmod", "640", file])
    return file
  }

  @Test func `graph: a signed-in person's calls`() async throws {
    let demo = try DemoScene()
    let (settings, services) = (demo.settings, demo.services)
    let text = try recipe(
      "graph",
      [
        (Self.entra, services.issuer), (Self.noID, Sample.desk),
        ("/var/lib/bearer-proxy/", directory.path + "/"),
        ("https://graph.microsoft.com/v1.0/", services.apiOrigin + "/api/"),
        ("alice@contoso.com", Sample.alice), ("[User.Read, Mail.Read]", "[\"api://orders/Orders.Read\"]"),
      ])
    let proxy = try await start(trusting(text, settings.authorityPath))
    #expect(try await proxy.get("/graph/list").status == 401)
    try await proxy.signIn(["--route", "graph"], demo.person())
    #expect(try await eventually { try await proxy.get("/graph/list").status == 200 })
    #expect(try await proxy.get("/graph/list").body.contains(Sample.alice))
  }

  @Test func `daemon: an application's own calls`() async throws {
    let demo = try DemoScene()
    let (settings, services) = (demo.settings, demo.services)
    let text = try recipe(
      "daemon",
      [
        (Self.entra, services.issuer), (Self.noID, Sample.portal),
        ("/etc/bearer-proxy/secrets/job", settings.secretPath), ("https://orders.example/", services.apiOrigin + "/"),
      ])
    let proxy = try await start(trusting(text, settings.authorityPath))
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    let answer = try await proxy.get("/orders/list")
    #expect(answer.status == 200 && answer.body.contains("Orders.Read"), "\(answer)")
    let token = try await proxy.command(["token", "--route", "orders"])
    #expect(token.status == 0, "\(token.errors)")
  }

  @Test func `assertion-command: a key that signs elsewhere`() async throws {
    let demo = try DemoScene()
    let (settings, services) = (demo.settings, demo.services)
    let file = testsDirectory + "/../config/recipes/assertion-command.yaml"
    let lines = textOfFile(file).split(separator: "\n", omittingEmptySubsequences: false)
    let script = lines.drop { $0 != "#   #!/bin/sh" }.prefix { $0.hasPrefix("#   ") }.map { $0.dropFirst(4) }
    try #require(script.count > 5)
    let program = try directory.write(script.joined(separator: "\n") + "\n", to: "orders-assertion")
    try await succeed(["chmod", "755", program])
    let text = try recipe(
      "assertion-command",
      [
        (Self.entra, services.issuer), (Self.noID, Sample.nightly), ("/usr/local/bin/orders-assertion", program),
        ("/etc/bearer-proxy/orders.pem", settings.clientCertificatePath),
        ("/etc/bearer-proxy/orders.key", settings.clientKeyPath),
        ("https://orders.example/", services.apiOrigin + "/"),
      ])
    let proxy = try await start(trusting(text, settings.authorityPath))
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 }, "\(proxy.process.errors)")
    let answer = try await proxy.get("/orders/list")
    #expect(answer.status == 200 && answer.body.contains("Orders.Read"), "\(answer)")
    // A command that fails takes nothing away that is held, and is told with its status and error.
    try directory.write("#!/bin/sh\necho the module is locked >&2\nexit 7\n", to: "orders-assertion")
    let check = try await proxy.command(["check", "--live"])
    #expect(check.output.contains("it ended with status 7: the module is locked"), "\(check.output)\(check.errors)")
    #expect(check.output.contains("env -i"), "\(check.output)")
    #expect(try await proxy.get("/orders/list").status == 200)
  }

  @Test func `keycloak: people and a service of a realm`() async throws {
    let provider = try await OpenIDProvider(OpenIDProvider.desk + ["--realm", "main"])
    let issuer = provider.issuer(ofRealm: "main")
    let text = try recipe(
      "keycloak",
      [
        ("https://id.example/realms/main", issuer), ("/var/lib/bearer-proxy/", directory.path + "/"),
        ("https://orders.example/api/", issuer + "/api/"),
      ])
    let proxy = try await start(text, environment: ["SERVICE_SECRET": OpenIDProvider.secret])
    #expect(try await eventually { try await proxy.get("/all/whoami").status == 200 })
    let login = try await run(
      [binary(), "login", "-c", proxy.configuration, "--route", "nothing"],
      environment: ["SERVICE_SECRET": OpenIDProvider.secret])
    #expect(login.status == 2 && login.errors.contains("nothing"))
    let signIn = try Login(
      proxy.configuration, ["--route", "mine"], environment: ["SERVICE_SECRET": OpenIDProvider.secret])
    try await OpenIDProvider.ann().authorize(try await signIn.address())
    #expect(try await signIn.result().status == 0)
    #expect(try await eventually { try await proxy.get("/mine/whoami").status == 200 })
    #expect(try await proxy.get("/mine/whoami").body.contains(issuer))
  }

  @Test func `azure-cli: what az login left behind`() async throws {
    let authority = try await CertificateAuthority(in: directory)
    let nginx = try await NginxUpstream(in: directory, certificate: authority.issue("upstream"))
    try await succeed(["mkdir", "-m", "700", directory.file(".azure")])
    let cache = AzureCLICache(now: Int(Date().timeIntervalSince1970))
    try directory.write(cache.text, to: ".azure/msal_token_cache.json")
    try await succeed(["chmod", "600", directory.file(".azure/msal_token_cache.json")])
    let text = try recipe("azure-cli", [("https://management.azure.com/", "http://127.0.0.1:\(nginx.port)/echo/")])
    let proxy = try await start(text, environment: ["HOME": directory.path])
    let answer = try await proxy.get("/arm/subscriptions?api-version=2022-12-01")
    #expect(answer.status == 200, "\(answer)")
    #expect(answer.echoed("authorization") == "Bearer \(AzureCLICache.accessToken)")
    #expect(answer.echoed("uri") == "/echo/subscriptions?api-version=2022-12-01")
    // The CLI's file is as the CLI left it.
    #expect(directory.read(".azure/msal_token_cache.json") == cache.text)
  }

  @Test func `accounts: two people side by side`() async throws {
    let demo = try DemoScene()
    let (settings, services) = (demo.settings, demo.services)
    let text = try recipe(
      "accounts",
      [
        (Self.entra, services.issuer), (Self.noID, Sample.desk),
        ("/var/lib/bearer-proxy/", directory.path + "/"), ("https://orders.example/", services.apiOrigin + "/"),
        ("alice@contoso.com", Sample.alice), ("bob@contoso.com", Sample.bob),
      ])
    let proxy = try await start(trusting(text, settings.authorityPath))
    for (route, user) in [("alice", Sample.alice), ("bob", Sample.bob)] {
      try await proxy.signIn(["--route", route], demo.person(user))
    }
    for (route, user) in [("alice", Sample.alice), ("bob", Sample.bob)] {
      #expect(try await eventually { try await proxy.get("/\(route)/list").status == 200 })
      #expect(try await proxy.get("/\(route)/list").body.contains(user))
    }
  }

  @Test func `corporate-proxy: outside through the proxy, inside without`() async throws {
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue(
      "names", for: ["DNS:login.far.test", "DNS:orders.far.test", "DNS:localhost"])
    let nginx = try await NginxUpstream(in: directory, certificate: certificate)
    let provider = try await OpenIDProvider(in: directory, https: certificate, name: "login.far.test")
    let outbound = try await PythonPeer("connect_proxy.py", ["--credential", "user:pa@ss"], in: directory)
    for secret in ["pa@ss", "pa%40ss", "dXNlcjpwYUBzcw=="] { ProxyLedger.current?.add(secret: secret) }
    let text = try recipe(
      "corporate-proxy",
      [
        (Self.entra, provider.issuer), (Self.noID, OpenIDProvider.client),
        ("/etc/bearer-proxy/secrets/contoso", try await secret(OpenIDProvider.secret, "client-secret")),
        ("https://orders.example/api/", "https://orders.far.test:\(nginx.tlsPort)/echo/"),
        ("https://ledger.corp.example/api/", "https://localhost:\(nginx.tlsPort)/echo/"),
        ("api://orders/.default", "orders.read"),
      ])
    let proxy = try await start(
      trusting(text, authority.file),
      environment: ["HTTPS_PROXY": "http://user:pa%40ss@127.0.0.1:\(outbound.port)", "NO_PROXY": ".corp.example"])
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    #expect(try await proxy.get("/outside/1").status == 200)
    let asked = Set(outbound.requests.compactMap { $0.split(separator: " ").dropFirst().first })
    #expect(asked == ["login.far.test:\(provider.port)", "orders.far.test:\(nginx.tlsPort)"])
    #expect(try await proxy.get("/inside/1").status == 200)
    #expect(!outbound.requests.contains { $0.contains("localhost") })
  }

  @Test func `tenants: each route's token is of the tenant that it names`() async throws {
    let authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("entra", for: ["DNS:login.microsoftonline.com"])
    let port = try freePort()
    let provider = try await nginx(serving: TenantTests.servers(port, certificate), at: port, in: directory)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let outbound = try await PythonPeer("connect_proxy.py", in: directory)
    let text = try recipe(
      "tenants",
      [
        ("https://login.microsoftonline.com/", "https://login.microsoftonline.com:\(port)/"),
        ("/etc/bearer-proxy/secrets/orders", try await secret(OpenIDProvider.secret, "client-secret")),
        ("https://orders.example/contoso/", "http://127.0.0.1:\(upstream.port)/"),
        ("https://orders.example/fabrikam/", "http://127.0.0.1:\(upstream.port)/"),
      ])
    let proxy = try await start(
      trusting(text, authority.file), environment: ["HTTPS_PROXY": "http://127.0.0.1:\(outbound.port)"])
    for tenant in ["contoso", "fabrikam"] {
      let body = try await proxy.get("/\(tenant)/seen").body
      #expect(body.contains("Authorization: Bearer \(tenant).onmicrosoft.com."), "\(body)")
    }
    #expect(provider.poll() == nil)
  }

  @Test func `private-ca: an authority of one's own, and a certificate shown`() async throws {
    let authority = try await CertificateAuthority(in: directory)
    let server = try await authority.issue("server")
    let client = try await authority.issue("client")
    try await succeed(["chmod", "640", client.keyFile])
    let nginx = try await NginxUpstream(in: directory, certificate: server, clientAuthority: authority.file)
    let provider = try await OpenIDProvider(in: directory, https: server)
    let text = try recipe(
      "private-ca",
      [
        ("https://id.corp.example/realms/main", provider.issuer),
        ("/etc/bearer-proxy/secrets/contoso", try await secret(OpenIDProvider.secret, "client-secret")),
        ("/etc/ssl/corporate.pem", authority.file), ("/etc/bearer-proxy/tls/client.pem", client.certificateFile),
        ("/etc/bearer-proxy/tls/client.key", client.keyFile),
        ("https://orders.corp.example/api/", "https://127.0.0.1:\(nginx.tlsPort)/echo/"),
      ])
    let proxy = try await start(text)
    #expect(try await eventually { try await proxy.admin("/readyz").status == 200 })
    let answer = try await proxy.get("/orders/1")
    #expect(answer.status == 200 && answer.echoed("authorization")?.hasPrefix("Bearer ") == true, "\(answer)")
  }

  @Test func `replicas: signed in at one, served at both`() async throws {
    let demo = try DemoScene()
    let (settings, services) = (demo.settings, demo.services)
    let authority = try await CertificateAuthority("redis-ca", in: directory)
    let certificate = try await authority.issue("redis")
    let redis = try await RedisPeer(
      in: directory,
      RedisPeer.tls(certificate, of: authority),
      user: "bearer-proxy on >sesame-and-more resetchannels ~bearer-proxy:* \(RedisPeer.commands)")
    let changes = [
      ("rediss://cache.corp.example:6379/0", "rediss://127.0.0.1:\(redis.port)/0"),
      ("/etc/bearer-proxy/secrets/redis", try await secret("sesame-and-more", "redis-password")),
      ("/etc/ssl/corporate.pem", authority.file), (Self.entra, services.issuer), (Self.noID, Sample.desk),
      ("https://orders.example/", services.apiOrigin + "/"), ("alice@contoso.com", Sample.alice),
    ]
    let one = try await start(trusting(recipe("replicas", changes), settings.authorityPath))
    let elsewhere = try TemporaryDirectory()
    let two = try await ProxyUnderTest(in: elsewhere, trusting(recipe("replicas", changes), settings.authorityPath))
    try await one.signIn(["--route", "orders", "--device-code"], demo.person())
    for proxy in [one, two] {
      #expect(try await eventually { try await proxy.get("/orders/list").status == 200 })
    }
    let commands = textOfFile(testsDirectory + "/../config/recipes/replicas.yaml").split(separator: "\n")
      .map { $0.drop { $0 == "#" || $0 == " " } }.joined(separator: " ").replacing("\\ ", with: "")
    #expect(commands.contains(RedisPeer.commands))
  }

  @Test func `every recipe has a test and a row in the page`() throws {
    let folder = try FileManager.default.contentsOfDirectory(atPath: testsDirectory + "/../config/recipes")
    // EngineTests has those of engines.
    let names = folder.filter { $0.hasSuffix(".yaml") }
    let page = textOfFile(testsDirectory + "/../config/README.md")
    // Some are beside the other tests with their peers.
    let files = ["RecipeTests", "FixedFieldTests", "TokenFileTests", "MCPTests"]
    let tests = files.map { textOfFile(testsDirectory + "/EndToEndTests/\($0).swift") }.joined()
    #expect(names.count >= 8)
    for name in names {
      #expect(page.contains("](recipes/\(name))"), "\(name)")
      let isTested = tests.contains("func `\(name.dropLast(5)): ")
      #expect(isTested, "\(name)")
    }
  }
}
