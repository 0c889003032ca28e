import HTTP
import Testing
import Tokens

@Suite struct AuthorityTests {
  struct Accepted: Sendable, CustomTestStringConvertible {
    var text: String
    var kind: Authority.Kind
    var metadata: String
    var testDescription: String { text }
  }

  private static let guid = "11111111-aaaa-4aaa-8aaa-111111111111"

  static let accepted: [Accepted] = [
    Accepted(
      text: "https://login.microsoftonline.com/Contoso.onmicrosoft.com/",
      kind: .entra(tenant: .specific("contoso.onmicrosoft.com"), cloud: .global),
      metadata: "https://login.microsoftonline.com/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://LOGIN.microsoftonline.us/\(guid)/oauth2/v2.0/token",
      kind: .entra(tenant: .specific(guid), cloud: .usGovernment),
      metadata: "https://login.microsoftonline.us/\(guid)/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://sts.windows.net/organizations", kind: .entra(tenant: .organizations, cloud: .global),
      metadata: "https://sts.windows.net/organizations/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://westus2.login.microsoft.com/common", kind: .entra(tenant: .common, cloud: .global),
      metadata: "https://westus2.login.microsoft.com/common/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://login.microsoft.com/consumers", kind: .entra(tenant: .consumers, cloud: .global),
      metadata: "https://login.microsoft.com/consumers/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://fs.contoso.example/adfs/", kind: .adfs,
      metadata: "https://fs.contoso.example/adfs/.well-known/openid-configuration"),
    Accepted(
      text: "https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_SignIn",
      kind: .b2c(tenant: "contoso.onmicrosoft.com", policy: "b2c_1_signin"),
      metadata:
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_signin/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_SignIn",
      kind: .b2c(tenant: "contoso.onmicrosoft.com", policy: "b2c_1_signin"),
      metadata:
        "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_signin/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://login.partner.microsoftonline.cn/\(guid)",
      kind: .entra(tenant: .specific(guid), cloud: .china),
      metadata: "https://login.partner.microsoftonline.cn/\(guid)/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://login.sovcloud-identity.fr/\(guid)",
      kind: .entra(tenant: .specific(guid), cloud: .sovereignFrance),
      metadata: "https://login.sovcloud-identity.fr/\(guid)/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://fs.contoso.example/adfs/oauth2/token", kind: .adfs,
      metadata: "https://fs.contoso.example/adfs/.well-known/openid-configuration"),
    Accepted(
      text: "https://login.contoso.example/\(guid)/v2.0", kind: .issuer,
      metadata: "https://login.contoso.example/\(guid)/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://login.contoso.example/contoso/b2c_1_x", kind: .b2c(tenant: "contoso", policy: "b2c_1_x"),
      metadata: "https://login.contoso.example/contoso/b2c_1_x/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://contoso.ciamlogin.com", kind: .ciam(tenant: "contoso.onmicrosoft.com"),
      metadata: "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://contoso.ciamlogin.com/\(guid)", kind: .ciam(tenant: guid),
      metadata: "https://contoso.ciamlogin.com/\(guid)/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "https://id.example/realms/Demo/", kind: .issuer,
      metadata: "https://id.example/realms/Demo/.well-known/openid-configuration"),
    Accepted(
      text: "https://id.example", kind: .issuer, metadata: "https://id.example/.well-known/openid-configuration"),
    Accepted(
      text: "https://id.example/", kind: .issuer, metadata: "https://id.example/.well-known/openid-configuration"),
    Accepted(
      text: "http://127.0.0.1:9400/tenant/v2.0", kind: .issuer,
      metadata: "http://127.0.0.1:9400/tenant/v2.0/.well-known/openid-configuration"),
    Accepted(
      text: "http://[::1]:9400", kind: .issuer, metadata: "http://[::1]:9400/.well-known/openid-configuration"),
    Accepted(
      text: "http://localhost:9400/x", kind: .issuer,
      metadata: "http://localhost:9400/x/.well-known/openid-configuration"),
    Accepted(
      text: "https://evilb2clogin.com/a/b", kind: .issuer,
      metadata: "https://evilb2clogin.com/a/b/.well-known/openid-configuration"),
    Accepted(
      text: "https://login.microsoftonline.com.evil.example/x", kind: .issuer,
      metadata: "https://login.microsoftonline.com.evil.example/x/.well-known/openid-configuration"),
    Accepted(
      text: "https://a.b.login.microsoft.com/x", kind: .issuer,
      metadata: "https://a.b.login.microsoft.com/x/.well-known/openid-configuration"),
  ]

  @Test(arguments: accepted)
  func `an authority has a kind and a metadata address`(row: Accepted) throws {
    let authority = try Authority(row.text)
    #expect(authority.kind == row.kind)
    #expect(authority.metadataURL.description == row.metadata)
  }

  static let refused: [(String, AuthorityError)] = [
    ("login.microsoftonline.com/common", .url(.scheme)),
    ("https://", .url(.host)),
    ("https://user@id.example/", .url(.userInformation)),
    ("https://id.example/#x", .url(.path)),
    ("http://id.example/", .plaintext),
    ("http://127.0.0.1.evil.example/", .plaintext),
    ("http://128.0.0.1/", .plaintext),
    ("http://127.0.0.01/", .url(.numericHost)),
    ("http://login.microsoftonline.com/common", .plaintext),
    ("https://id.example/?p=b2c_1", .query),
    ("https://login.microsoftonline.com", .tenantMissing),
    ("https://login.microsoftonline.com/", .tenantMissing),
    ("https://contoso.b2clogin.com/contoso", .tenantMissing),
    ("https://login.microsoftonline.com/con%20toso", .tenant("con%20toso")),
    ("https://login.microsoftonline.de/contoso.onmicrosoft.de", .retired(host: "login.microsoftonline.de")),
  ]

  @Test(arguments: refused)
  func `a text that names no usable authority is refused`(text: String, error: AuthorityError) {
    #expect(throws: error) { try Authority(text) }
  }

  // MSAL's built-in instance metadata: a cache entry under one name of a group serves them all.
  @Test(arguments: [
    ["login.microsoftonline.com", "login.windows.net", "login.microsoft.com", "sts.windows.net"],
    ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"],
    ["login.microsoftonline.us", "login.usgovcloudapi.net"], ["login-us.microsoftonline.com"],
    ["login.sovcloud-identity.fr"], ["login.sovcloud-identity.de"], ["login.sovcloud-identity.sg"],
    ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"],
  ])
  func `the hosts of a cloud are one another's aliases, and no other cloud's`(group: [String]) throws {
    for host in group {
      let authority = try Authority("https://\(host)/contoso")
      #expect(authority.environments[0] == host)
      #expect(Set(authority.environments) == Set(group))
    }
  }

  @Test(
    arguments: [
      ("https://login.microsoftonline.com/common", "Contoso.onmicrosoft.com", "/contoso.onmicrosoft.com"),
      ("https://login.microsoftonline.us/organizations", guid, "/\(guid)"),
      ("https://westus2.login.microsoft.com/contoso", "fabrikam.example", "/fabrikam.example"),
      ("https://login.microsoftonline.com/contoso", "organizations", "/organizations"),
      ("https://id.example/common", guid, nil), ("https://fs.contoso.example/adfs", guid, nil),
      ("https://contoso.ciamlogin.com", guid, nil),
      ("https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_x", guid, nil),
    ] as [(String, String, String?)])
  func `an authority of Entra can be that of another tenant, and others cannot`(
    text: String, tenant: String, path: String?
  ) throws {
    let authority = try Authority(text)
    let other = try authority.forTenant(tenant)
    #expect(try other == path.map { try Authority(authority.url.origin + $0) })
    #expect(other.map { $0.environments == authority.environments } ?? true)
  }

  @Test func `a tenant has to be one`() throws {
    let authority = try Authority("https://login.microsoftonline.com/common")
    for tenant in ["", "a/b", "con toso", "a?b"] {
      #expect(throws: AuthorityError.tenant(tenant)) { try authority.forTenant(tenant) }
    }
  }

  @Test func `aliases of a cloud come after the authority's own host`() throws {
    #expect(
      try Authority("https://sts.windows.net/common").environments
        == ["sts.windows.net", "login.microsoftonline.com", "login.windows.net", "login.microsoft.com"])
    #expect(
      try Authority("https://westus2.login.microsoft.com/common").environments.first == "login.microsoftonline.com")
    #expect(try Authority("https://id.example:8443/x").environments == ["https://id.example:8443/x", "id.example"])
  }

  @Test func `equal authorities are equal values`() throws {
    #expect(
      try Authority("https://login.microsoftonline.com/T") == Authority("https://LOGIN.microsoftonline.com:443/t/"))
    #expect(try Authority("https://id.example/a") != Authority("https://id.example/A"))
  }

  @Test(
    arguments: [
      ("https://login.microsoftonline.com/t", "api://x/.default", nil),
      ("https://login.microsoftonline.com/t", "https://x//.default", nil),
      ("https://login.microsoftonline.com/t", "", .notOneScope(count: 0)),
      ("https://login.microsoftonline.com/t", "a/.default b/.default", .notOneScope(count: 2)),
      ("https://login.microsoftonline.com/t", "User.Read", .notDefault("User.Read")),
      ("https://login.microsoftonline.com/t", "/.default", .notDefault("/.default")),
      ("https://login.microsoftonline.com/common", "api://x/.default", .tenantNotSpecific),
      ("https://contoso.ciamlogin.com", "a b", .notOneScope(count: 2)),
      ("https://id.example", "orders.read orders.write", nil),
      ("https://id.example", "", nil),
    ] as [(String, String, ScopeError?)])
  func `scopes for an application obey the provider's rule`(
    authority: String, scopes: String, expected: ScopeError?
  ) throws {
    let parsed = try Authority(authority)
    let set = try ScopeSet(parameter: scopes)
    do throws(ScopeError) {
      try parsed.checkForApplication(set)
      #expect(expected == nil)
    } catch {
      #expect(error == expected)
    }
  }
}
