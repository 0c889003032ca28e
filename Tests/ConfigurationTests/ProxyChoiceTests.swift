// Through which proxy a URL is reached: the environment's words, row by row, and the configuration's own.

import Bytes
import HTTP
import Testing
import Tokens

@testable import Configuration

@Suite struct `Outbound proxies` {
  static let corporate = ["HTTPS_PROXY": "http://proxy.corp:3128", "http_proxy": "plain.corp:8080"]

  static let rows: [(environment: [String: String], url: String, proxy: String?)] = [
    ([:], "https://a.example/", nil),
    (corporate, "https://a.example/", "http://proxy.corp:3128"),
    (corporate, "http://a.example/", "http://plain.corp:8080"),
    (["HTTPS_PROXY": "", "https_proxy": ""], "https://a.example/", nil),
    (["HTTPS_PROXY": "http://upper:1", "https_proxy": "http://lower:2"], "https://a.example/", "http://lower:2"),
    (["HTTPS_PROXY": "http://upper:1", "https_proxy": ""], "https://a.example/", "http://upper:1"),
    (["HTTPS_PROXY": "proxy.corp"], "https://a.example/", "http://proxy.corp:80"),
    (["HTTPS_PROXY": "http://[2001:db8::1]:3128/"], "https://a.example/", "http://[2001:db8::1]:3128"),
    (["HTTP_PROXY": "http://p:1"], "http://a.example/", "http://p:1"),
    // A request's field "Proxy", in a CGI program.
    (["HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"], "http://a.example/", nil),
    (["http_proxy": "http://p:1", "REQUEST_METHOD": "GET"], "http://a.example/", "http://p:1"),
    // This machine.
    (corporate, "https://localhost:8443/", nil),
    (corporate, "https://127.0.0.9/", nil),
    (corporate, "https://[::1]/", nil),
  ]

  private func choice(_ environment: [String: String]) -> ProxyEnvironment {
    ProxyEnvironment(environment) { name, reason in Issue.record("\(name) \(reason)") }
  }

  @Test(arguments: rows)
  func `the environment says who is reached through whom`(
    environment: [String: String], url: String, proxy: String?
  ) throws {
    #expect(choice(environment).proxy(for: try HTTPURL(url))?.description == proxy)
  }

  static let exceptions: [(list: String, url: String, isDirect: Bool)] = [
    ("*", "https://a.example/", true),
    ("a.example", "https://a.example/", true),
    ("A.Example", "https://a.example./", true),
    ("example", "https://a.example/", true),
    ("ample", "https://a.example/", false),
    (".example", "https://a.example/", true),
    (".a.example", "https://a.example/", false),
    ("*.example", "https://a.example/", true),
    ("b.example, a.example", "https://a.example/", true),
    ("b.example a.example", "https://a.example/", true),
    ("a.example:443", "https://a.example/", true),
    ("a.example:8443", "https://a.example/", false),
    ("10.0.0.0/8", "https://10.1.2.3/", true),
    ("10.0.0.0/9", "https://10.128.0.1/", false),
    ("10.1.2.3", "https://10.1.2.3/", true),
    ("10.1.2.3", "https://10.1.2.30/", false),
    ("10.0.0.0/8", "https://ten.example/", false),
    ("2001:db8::/32", "https://[2001:db8:1::5]/", true),
    ("2001:db8::1", "https://[2001:db8::1]/", true),
    ("[2001:db8::1]:8443", "https://[2001:db8::1]/", false),
    ("0.0.0.0/0", "https://192.0.2.1/", true),
    ("10.0.0.0/33, , ..", "https://10.0.0.1/", false),
  ]

  @Test(arguments: exceptions)
  func `NO_PROXY says who is reached directly`(list: String, url: String, isDirect: Bool) throws {
    for name in ["NO_PROXY", "no_proxy"] {
      let proxy = choice(["HTTPS_PROXY": "http://p:1", name: list]).proxy(for: try HTTPURL(url))
      #expect((proxy == nil) == isDirect)
    }
  }

  static let unusable: [(text: String, reason: String)] = [
    (
      "https://p:1", "is not an http:// proxy; tunnels are asked for in plain HTTP, what goes through them is encrypted"
    ),
    (
      "socks5://p:1",
      "is not an http:// proxy; tunnels are asked for in plain HTTP, what goes through them is encrypted"
    ),
    ("http://p:0", "has no host that could be looked up, or a port that is not a number from 1 to 65535"),
    ("http://us%zzer:s3cret@p:1", "has something before the '@' that is no user:password (percent-encoded)"),
    ("http://p:1/path", "has a path; a proxy is a host and a port"),
  ]

  @Test(arguments: unusable)
  func `a variable that names no usable proxy is an error, and its text is not shown`(text: String, reason: String)
    throws
  {
    let error = #expect(throws: ConfigurationError.self) {
      try decoded(`Decoded settings`.smallest, environment: ["https_proxy": text])
    }
    #expect(error?.issues.map(\.message) == ["the environment's https_proxy \(reason)"])
  }

  static let file = """
    listeners: [{address: 127.0.0.1:8080}]
    applications:
      a: {authority: "https://id.example", client_id: c, proxy: "http://u%40x:${SECRET}@own.corp:8080"}
      b: {authority: "https://id.example", client_id: c, proxy: none}
      c: {authority: "https://id.example", client_id: c}
    routes:
      - {name: one, path: /1/, upstream: "https://api.example", token: none, proxy: other.corp}
      - {name: two, path: /2/, upstream: "https://127.0.0.1", token: none, proxy: other.corp}
      - {name: three, path: /3/, upstream: "https://api.example", token: none}
      - {name: four, path: /4/, upstream: "https://api.example", token: none, proxy: none}
    """

  @Test func `the file overrules the environment, for this machine too`() throws {
    let settings = try decoded(Self.file, environment: ["HTTPS_PROXY": "http://u:hush@corp:1", "SECRET": "s3%2Fcr3t"])
    let url = try HTTPURL("https://id.example/token")
    let proxies = settings.applications.map { $0.proxy.proxy(for: url) }
    #expect(proxies.map { $0?.description } == ["http://own.corp:8080", nil, "http://corp:1"])
    #expect(proxies.map { $0?.credential?.revealed() } == ["u@x:s3/cr3t", nil, "u:hush"])
    #expect(
      settings.routes.map { $0.proxy?.description } == [
        "http://other.corp:80", "http://other.corp:80", "http://corp:1", nil,
      ])
    // The value in force is shown without the credential.
    let values = settings.effectiveValues().filter { $0.key.hasSuffix(".proxy") }
    #expect(
      Dictionary(uniqueKeysWithValues: values.map { ($0.key, $0.value) }) == [
        "applications.a.proxy": "http://own.corp:8080", "applications.b.proxy": "none",
        "applications.c.proxy": "http://corp:1", "routes[0].proxy": "http://other.corp:80",
        "routes[1].proxy": "http://other.corp:80", "routes[2].proxy": "http://corp:1", "routes[3].proxy": "none",
      ])
    #expect(values.first { $0.key == "routes[2].proxy" }?.source.description == "environment HTTPS_PROXY")
  }

  @Test func `a password in the file's own text is refused`() throws {
    let text = Self.file.replacing("${SECRET}", with: "s3cret")
    let error = #expect(throws: ConfigurationError.self) { try decoded(text) }
    #expect(
      error?.issues.map(\.message) == [
        "applications.a.proxy has a password in it; use a variable, such as http://${PROXY_USER}@host:port"
      ])
  }
}
