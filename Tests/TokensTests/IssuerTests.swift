import Testing
import Tokens

@Suite struct IssuerTests {
  private static let entra = "https://login.microsoftonline.com/contoso"
  private static let custom = "https://login.contoso.example/contoso/b2c_1_x"
  private static let external = "https://contoso.ciamlogin.com/contoso"

  private static let guid = "11111111-aaaa-4aaa-8aaa-111111111111"
  private static let domain = "https://login.contoso.example/\(guid)/v2.0"

  // The cases of msal-python's table, by kind of authority. Marked rows are refused here and accepted there: other
  // providers have one issuer.
  static let cases: [(authority: String, issuer: String, accepted: Bool)] = [
    // The authority itself.
    (entra, entra, true),
    (entra, entra + "/v2.0", true),
    (entra, "https://login.microsoftonline.com/{tenantid}/v2.0", true),
    ("https://example.com/tenant/", "https://example.com/tenant", true),
    ("https://example.com/tenant", "https://example.com/tenant/", true),
    ("https://EXAMPLE.com:443/tenant", "https://example.com/tenant", true),
    ("https://example.com", "https://example.com/", true),
    ("http://127.0.0.1:9400/t/v2.0", "http://127.0.0.1:9400/t/v2.0", true),
    // Another Microsoft host.
    (entra, "https://sts.windows.net/11111111-aaaa-4aaa-8aaa-111111111111/", true),
    ("https://login.microsoftonline.us/contoso", "https://login.microsoftonline.com/contoso", true),
    (custom, "https://login.microsoftonline.com/contoso", true),
    (custom, "https://login.microsoftonline.com.evil.example/contoso", false),
    (entra, "http://login.windows.net/contoso", false),
    (entra, "https://login.windows.net:8443/contoso", false),
    // Regions: one label before a known host, or before the authority's own.
    (entra, "https://westus2.login.microsoftonline.com/tenant", true),
    (entra, "https://WESTUS2.LOGIN.MICROSOFTONLINE.COM/tenant", true),
    (entra, "https://eastus.login.microsoft.com/tenant", true),
    ("https://login.chinacloudapi.cn/t", "https://chinanorth.login.chinacloudapi.cn/tenant", true),
    ("https://login.microsoftonline.us/t", "https://usgovvirginia.login.microsoftonline.us/tenant", true),
    (entra, "https://west.us.2.login.microsoftonline.com/tenant", false),
    (entra, "https://westus2.login.evil.com/tenant", false),
    (custom, "https://us.login.contoso.example/tenant", true),
    (custom, "https://eastus.login.contoso.example/v2", true),
    (custom, "https://us.otherdomain.example/tenant", false),
    (custom, "http://us.login.contoso.example/tenant", false),
    // B2C and External ID.
    (custom, "https://tenant.b2clogin.com/tenant/v2.0", true),
    (custom, "https://tenant.b2clogin.cn/tenant/v2.0", true),
    (custom, "https://tenant.b2clogin.us/tenant/v2.0", true),
    (custom, "https://tenant.b2clogin.de/tenant/v2.0", true),
    (custom, "https://evilb2clogin.com/tenant/v2.0", false),
    (custom, "https://b2clogin.com.evil.com/tenant/v2.0", false),
    (
      external, "https://11111111-aaaa-4aaa-8aaa-111111111111.ciamlogin.com/11111111-aaaa-4aaa-8aaa-111111111111/v2.0",
      true
    ),
    (external, "https://ciamlogin.com.evil.example/x", false),
    // External ID behind a domain of one's own: its metadata name the tenant's host (MSAL for .NET's rule).
    (domain, domain, true), (domain, "https://\(guid).ciamlogin.com/\(guid)/v2.0", true),
    (domain, "https://\(guid).ciamlogin.com/\(guid)/v2.0/", true),
    (domain, "https://\(guid).ciamlogin.com/\(guid)", true),
    (domain, "https://\(guid).ciamlogin.com", true), (domain, "https://contoso.ciamlogin.com/\(guid)/v2.0", false),
    (domain, "http://\(guid).ciamlogin.com/\(guid)/v2.0", false),
    (domain, "https://\(guid).ciamlogin.com:8443/\(guid)/v2.0", false),
    (domain, "https://\(guid).ciamlogin.com/other/v2.0", false),
    (domain, "https://\(guid).ciamlogin.com.evil.example/\(guid)/v2.0", false),
    ("https://login.contoso.example/contoso/v2.0", "https://contoso.ciamlogin.com/contoso/v2.0", false),
    // Neither.
    (entra, "https://malicious-site.com/tenant", false),
    (entra, "", false),
    (entra, "login.microsoftonline.com/contoso", false),
    // Other providers: exactly the authority. The first three rows are msal-python's and accepted there.
    ("https://someweb.com/tenant", "https://us.someweb.com/tenant", false),
    ("https://someweb.com/tenant", "https://someweb.com/other", false),
    ("https://someweb.com/tenant", "https://login.microsoftonline.com/tenant", false),
    ("https://someweb.com/tenant", "https://someweb.com/Tenant", false),
    ("https://someweb.com/tenant", "http://someweb.com/tenant", false),
    ("https://someweb.com/tenant", "https://someweb.com:8443/tenant", false),
    ("https://someweb.com/tenant", "https://someweb.com/tenant?x", false),
    ("https://someweb.com/tenant", "https://someweb.com/tenant//", false),
    ("https://fs.contoso.example/adfs", "https://fs.contoso.example/adfs/services/trust", true),
    ("https://fs.contoso.example/adfs", "https://fs.other.example/adfs", false),
  ]

  @Test(arguments: cases)
  func `issuer-table: metadata may name the issuer, or not`(authority: String, issuer: String, accepted: Bool) throws {
    #expect(try Authority(authority).accepts(issuer: issuer) == accepted)
  }
}
