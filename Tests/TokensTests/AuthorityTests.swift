import HTTP
import Testing
import Tokens

@Suite struct AuthorityTests {
  private static let guid = "11111111-aaaa-4aaa-8aaa-111111111111"

  /// A text, its kind, and the address below which the metadata are.
  static let accepted: [(String, Authority.Kind, String)] = [
    (
      "https://login.microsoftonline.com/Contoso.onmicrosoft.com/",
      .entra(tenant: .specific("contoso.onmicrosoft.com"), cloud: .global),
      "https://login.microsoftonline.com/contoso.onmicrosoft.com/v2.0"
    ),
    (
      "https://LOGIN.microsoftonline.us/\(guid)/oauth2/v2.0/token",
      .entra(tenant: .specific(guid), cloud: .usGovernment), "https://login.microsoftonline.us/\(guid)/v2.0"
    ),
    (
      "https://sts.windows.net/organizations", .entra(tenant: .organizations, cloud: .global),
      "https://sts.windows.net/organizations/v2.0"
    ),
    (
      "https://westus2.login.microsoft.com/common", .entra(tenant: .common, cloud: .global),
      "https://westus2.login.microsoft.com/common/v2.0"
    ),
    (
      "https://login.microsoft.com/consumers", .entra(tenant: .consumers, cloud: .global),
      "https://login.microsoft.com/consumers/v2.0"
    ),
    ("https://fs.contoso.example/adfs/", .adfs, "https://fs.contoso.example/adfs"),
    (
      "https://contoso.b2clogin.com/contoso.onmicrosoft.com/B2C_1_SignIn",
      .b2c(tenant: "contoso.onmicrosoft.com", policy: "b2c_1_signin"),
      "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_signin/v2.0"
    ),
    (
      "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/B2C_1_SignIn",
      .b2c(tenant: "contoso.onmicrosoft.com", policy: "b2c_1_signin"),
      "https://contoso.b2clogin.com/contoso.onmicrosoft.com/b2c_1_signin/v2.0"
    ),
    (
      "https://login.partner.microsoftonline.cn/\(guid)", .entra(tenant: .specific(guid), cloud: .china),
      "https://login.partner.microsoftonline.cn/\(guid)/v2.0"
    ),
    (
      "https://login.sovcloud-identity.fr/\(guid)", .entra(tenant: .specific(guid), cloud: .sovereignFrance),
      "https://login.sovcloud-identity.fr/\(guid)/v2.0"
    ),
    ("https://fs.contoso.example/adfs/oauth2/token", .adfs, "https://fs.contoso.example/adfs"),
    ("https://login.contoso.example/\(guid)/v2.0", .issuer, "https://login.contoso.example/\(guid)/v2.0"),
    (
      "https://login.contoso.example/contoso/b2c_1_x", .b2c(tenant: "contoso", policy: "b2c_1_x"),
      "https://login.contoso.example/contoso/b2c_1_x/v2.0"
    ),
    (
      "https://contoso.ciamlogin.com", .ciam(tenant: "contoso.onmicrosoft.com"),
      "https://contoso.ciamlogin.com/contoso.onmicrosoft.com/v2.0"
    ),
    ("https://contoso.ciamlogin.com/\(guid)", .ciam(tenant: guid), "https://contoso.ciamlogin.com/\(guid)/v2.0"),
    ("https://id.example/realms/Demo/", .issuer, "https://id.example/realms/Demo"),
    ("https://id.example", .issuer, "https://id.example"),
    ("https://id.example/", .issuer, "https://id.example"),
    ("http://127.0.0.1:9400/tenant/v2.0", .issuer, "http://127.0.0.1:9400/tenant/v2.0"),
    ("http://[::1]:9400", .issuer, "http://[::1]:9400"),
    ("http://localhost:9400/x", .issuer, "http://localhost:9400/x"),
    ("https://evilb2clogin.com/a/b", .issuer, "https://evilb2clogin.com/a/b"),
    ("https://login.microsoftonline.com.evil.example/x", .issuer, "https://login.microsoftonline.com.evil.example/x"),
    ("https://a.b.login.microsoft.com/x", .issuer, "https://a.b.login.microsoft.com/x"),
  ]

  @Test(arguments: accepted)
  func `an authority has a kind and a metadata address`(text: String, kind: Authority.Kind, base: String) throws {
    let authority = try Authority(text)
    #expect(authority.kind == kind)
    #expect(authority.metadataURL.description == base + "/.well-known/openid-configuration")
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
