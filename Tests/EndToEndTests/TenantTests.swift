// Microsoft's authorities by their own host names, which only an outbound proxy knows here: which tenant and policy a
// token is of, and that the next process finds it in the cache while the provider is away.

import Glibc
import TestSupport
import Testing

@Suite("Tenants and clouds", .keepsSecrets, .timeLimit(.minutes(4)))
struct TenantTests {
  /// A route's name, its authority without the port, the tenant that it names, and what its token has to be of.
  private static let rows: [(name: String, host: String, path: String, tenant: String?, token: String)] = [
    ("one", "login.microsoftonline.com", "/organizations", "one.example", "one.example"),
    ("two", "login.microsoftonline.com", "/organizations", "two.example", "two.example"),
    ("own", "login.windows.net", "/three.example", nil, "three.example"),
    ("government", "login.microsoftonline.us", "/four.example", nil, "four.example"),
    ("china", "login.partner.microsoftonline.cn", "/common", "five.example", "five.example"),
    ("external", "contoso.ciamlogin.com", "", nil, "contoso.onmicrosoft.com"),
    ("policy", "contoso.b2clogin.com", "/contoso.onmicrosoft.com/B2C_1_One", nil, "contoso.onmicrosoft.com.b2c_1_one"),
    (
      "other", "contoso.b2clogin.com", "/tfp/contoso.onmicrosoft.com/B2C_1_Two", nil,
      "contoso.onmicrosoft.com.b2c_1_two"
    ),
    ("federation", "fs.contoso.example", "/adfs", nil, "adfs"),
  ]

  static func servers(_ port: Int, _ certificate: CertificateAuthority.Certificate) -> String {
    let base = "https://$http_host"
    func token(_ name: String) -> String {
      #"return 200 '{"access_token": "\#(name).$host", "token_type": "Bearer", "expires_in": 3600}';"#
    }
    func metadata(_ path: String, issuer: String) -> String {
      #"return 200 '{"issuer": "\#(base)\#(issuer)", "token_endpoint": "\#(base)\#(path)"}';"#
    }
    return """
      server {
        listen 127.0.0.1:\(port) ssl;
        ssl_certificate \(certificate.certificateFile);
        ssl_certificate_key \(certificate.keyFile);
        location = /adfs/.well-known/openid-configuration { \(metadata("/adfs/oauth2/token/", issuer: "/adfs")) }
        location = /adfs/oauth2/token/ { \(token("adfs")) }
        location ~ "^/([^/]+)/v2.0/.well-known/openid-configuration$" {
          \(metadata("/$1/oauth2/v2.0/token", issuer: "/$1/v2.0"))
        }
        location ~ "^/([^/]+)/oauth2/v2.0/token$" { \(token("$1")) }
        location ~ "^/([^/]+)/(b2c_[^/]+)/v2.0/.well-known/openid-configuration$" {
          \(metadata("/$1/$2/oauth2/v2.0/token", issuer: "/$1/v2.0/"))
        }
        location ~ "^/([^/]+)/(b2c_[^/]+)/oauth2/v2.0/token$" { \(token("$1.$2")) }
      }
      """
  }

  @Test func `each route has the token of its tenant, policy and cloud, and keeps it while the provider is away`()
    async throws
  {
    let directory = try TemporaryDirectory(), authority = try await CertificateAuthority(in: directory)
    let certificate = try await authority.issue("provider", for: Set(Self.rows.map { "DNS:\($0.host)" }).sorted())
    let port = try freePort()
    let provider = try await nginx(serving: Self.servers(port, certificate), at: port, in: directory)
    let upstream = try await PythonPeer("scripted_upstream.py", in: directory)
    let outbound = try await PythonPeer("connect_proxy.py", in: directory)
    let environment = ["HTTPS_PROXY": "http://127.0.0.1:\(outbound.port)"]
    // Two routes share an application, so that their tenants alone tell their tokens apart.
    let applications = Dictionary(Self.rows.map { ("\($0.host)\($0.path)", $0) }) { first, _ in first }
    func configuration(_ cache: String) -> String {
      "cache: {file: \(cache)}\napplications:\n"
        + applications.values.map {
          """
            \($0.name): {authority: "https://\($0.host):\(port)\($0.path)", client_id: client, client_secret: secret-3,
              tls: {ca_file: "\(authority.file)"}}

          """
        }.joined() + "routes:\n"
        + Self.rows.map { row in
          let name = applications["\(row.host)\(row.path)"]?.name ?? ""
          let tenant = row.tenant.map { "tenant: \($0), " } ?? ""
          return """
              - {name: \(row.name), path: /\(row.name)/, upstream: "http://127.0.0.1:\(upstream.port)/",
                 application: \(name), token: {as: application, \(tenant)scopes: ["https://api.example/.default"]}}

            """
        }.joined()
    }
    func check(_ proxy: ProxyUnderTest) async throws {
      for row in Self.rows {
        let body = try await proxy.get("/\(row.name)/seen").body
        let lines = body.split(whereSeparator: \.isNewline)
        #expect(lines.contains("Authorization: Bearer \(row.token).\(row.host)"), "\(row.name): \(body)")
      }
    }
    let cache = directory.file("cache.json")
    let proxy = try await ProxyUnderTest(in: directory, environment: environment, configuration(cache))
    try await check(proxy)
    let live = try await proxy.command(["check", "--live"])
    #expect(live.status == 0, "\(live.output)\(live.errors)")
    let token = try await proxy.command(["token", "--route", "two"])
    #expect(token.status == 0 && token.output.contains(":\(port)/two.example"), "\(token.output)\(token.errors)")
    provider.send(SIGKILL)
    _ = try await provider.wait(within: .seconds(30))
    let other = try TemporaryDirectory()
    try await check(try await ProxyUnderTest(in: other, environment: environment, configuration(cache)))
  }
}
