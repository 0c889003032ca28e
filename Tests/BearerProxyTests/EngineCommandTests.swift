// The parts of other proxies' configurations that `engine` prints.

import FoundationEssentials
import TestSupport
import Testing

@testable import Configuration
@testable import bearer_proxy

@Suite struct EngineCommandTests {
  private static func settings(_ changes: [(from: String, to: String)] = []) throws -> Settings {
    var text = try String(
      contentsOfFile: testsDirectory + "/../config/recipes/engines/proxies.yaml", encoding: .utf8)
    for change in changes {
      try #require(text.contains(change.from))
      text = text.replacing(change.from, with: change.to)
    }
    return try Settings.decode(
      yaml: Array(text.utf8), file: "proxies.yaml", environment: [:],
      readFile: { _, _ throws(UnreadableFile) in Array("contents-of-a-file\n".utf8) })
  }

  private static func nginx(_ changes: [(from: String, to: String)] = []) throws -> String {
    let settings = try settings(changes)
    return NginxConfiguration(
      listener: settings.listeners[0], routes: settings.routes, defaultTrust: EngineCommand.systemTrust
    ).text
  }

  @Test func `nginx.conf of the recipes is what the command prints for proxies.yaml`() throws {
    let recipe = try String(
      contentsOfFile: testsDirectory + "/../config/recipes/engines/nginx.conf", encoding: .utf8)
    #expect(try Self.nginx() == recipe, "bearer-proxy engine nginx -c proxies.yaml > nginx.conf")
  }

  @Test func `the part follows the listener and the route`() throws {
    let text = try Self.nginx([
      ("unix:/run/bearer-proxy/tokens.sock", "127.0.0.1:8085"),
      ("unix: {uids: [33]}", "header: {name: X-Proxy-Key, value_file: key}"),
      ("name: orders\n", "name: or-ders.2\n    host: api.example\n    preserve_host: true\n"),
      ("path: /orders/", "path: /or.ders/"), ("https://orders.example/api/", "http://127.0.0.1:81/"),
      ("as: application, ", "as: application, choice: {field: X-Tenant, values: {b: {tenant: fabrikam.example}}}, "),
    ])
    for line in [
      "server 127.0.0.1:8085;", #"proxy_set_header X-Proxy-Key "SECRET";"#, "server_name api.example;",
      "upstream or_ders_2_api {", "server 127.0.0.1:81;", "proxy_set_header Host $http_host;",
      "location = /.bearer/or-ders.2/again {", #"rewrite ^/or\.ders/(.*)$ /$1 break;"#,
      "proxy_pass http://or_ders_2_api/;",
      "proxy_set_header X-Tenant $http_x_tenant;",
    ] {
      #expect(text.contains("  \(line)\n") || text.contains("\n\(line)\n"), "\(line)")
    }
    #expect(!text.contains("proxy_ssl"))
    #expect(!text.contains("SECRET\";\n    SECRET"))
  }
}
