import HTTP
import Testing

@Suite struct HTTPURLTests {
  @Test(
    arguments: [
      ("http://h", "h", 80, "/", "h"),
      ("HTTPS://Graph.Microsoft.com/v1.0/", "graph.microsoft.com", 443, "/v1.0/", "graph.microsoft.com"),
      ("http://127.0.0.1:9000/a?b#".dropLast().description, "127.0.0.1", 9000, "/a?b", "127.0.0.1:9000"),
      ("https://[::1]:8443?q", "::1", 8443, "/?q", "[::1]:8443"), ("http://h:80/x", "h", 80, "/x", "h"),
    ] as [(String, String, UInt16, String, String)])
  func `a URL is taken apart and put together again`(
    url: String, host: String, port: UInt16, target: String, authority: String
  ) throws {
    let parsed = try HTTPURL(url)
    #expect(parsed.host == host && parsed.port == port && parsed.target == target && parsed.authority == authority)
    #expect(try HTTPURL(parsed.description) == parsed)
  }

  @Test(
    arguments: [
      ("ftp://h", HTTPURLError.scheme), ("h/a", .scheme), ("", .scheme), ("http://u@h/", .userInformation),
      ("http:///a", .host), ("http://[]/", .host), ("http://[::1/", .host), ("http://a b/", .host),
      ("http://[:::]/", .host), ("http://[12345::1]/", .host), ("http://[1::2::3]/", .host), ("http://[1]/", .host),
      ("http://é/", .host),
      ("http://h:/", .port), ("http://h:0/", .port), ("http://h:65536/", .port), ("http://h:x/", .port),
      ("http://[::1]x/", .port), ("http://h/#a", .path), ("http://h/ a", .path), ("http://h/é", .path),
    ])
  func `anything else is refused for what is wrong with it`(url: String, error: HTTPURLError) {
    #expect(throws: error) { try HTTPURL(url) }
  }

  @Test(
    arguments: [
      ("https://a.example", "https://a.example/?x=1"), ("https://a.example/b", "https://a.example/b?x=1"),
      ("https://a.example/b?c=d", "https://a.example/b?c=d&x=1"),
    ])
  func `members come behind those of a query, if there is one`(text: String, whole: String) throws {
    #expect(try HTTPURL(text).adding(query: "x=1").description == whole)
  }
}
