// The decoding of a right configuration: defaults, inheritance, substitution, secrets.

import Bytes
import HTTP
import Routing
import Telemetry
import Testing
import Tokens

@testable import Configuration

@Suite struct `Decoded settings` {
  static let smallest = """
    listeners:
      - address: 127.0.0.1:8080
    routes:
      - {name: open, path: /, upstream: "http://127.0.0.1:9000", token: none}
    """

  @Test func `the smallest file is completed by defaults`() throws {
    let settings = try decoded(Self.smallest)
    #expect(settings.listeners.map(\.address.value) == [SocketAddress(literal: "127.0.0.1", port: 8080)])
    #expect(settings.listeners[0].hosts == .names([]))
    #expect(settings.listeners[0].callers == .none)
    #expect(settings.listeners[0].tls == nil)
    #expect(settings.loops == nil)
    #expect(settings.admin == nil)
    #expect(settings.log == LogSettings())
    #expect(settings.limits == ServiceLimits())
    #expect(settings.timeouts == ExchangeTimeouts())
    #expect(settings.shutdown.limit == .seconds(30))
    let route = try #require(settings.routes.first)
    #expect(route.name == "open")
    #expect(route.place == Place(file: "dir/f.yaml", line: 4, column: 5))
    #expect(route.upstream.value.description == "http://127.0.0.1:9000/")
    #expect(route.token == .none)
    #expect(route.methods == nil)
    #expect(!route.preserveHost)
    #expect(route.timeouts == ExchangeTimeouts())
    #expect(route.pool == PoolLimits())
  }

  /// A credential as it is written, and what it means.
  static let credentials: [(String, CredentialSettings)] = [
    ("client_secret: s3cret", .secret(Secret("s3cret"))),
    ("credential: {secret: {value: s3cret}}", .secret(Secret("s3cret"))),
    ("client_secret_file: secret", .secret(Secret("from file"))),
    (
      "credential: {secret: {value_file: secret}}, client_authentication: client_secret_post",
      .secret(Secret("from file"))
    ),
    ("client_assertion_file: secret", .assertionFile(assertion(located("dir/secret", 23, "client_assertion_file")))),
    (
      "credential: {assertion: {file: secret}}",
      .assertionFile(assertion(located("dir/secret", 31, "credential.assertion.file")))
    ),
    (
      "credential: {assertion_command: {command: [/bin/a, -v, -v], environment: [CLIENT], timeout: 3s}}",
      .assertionCommand(
        AssertionCommandSettings(
          program: located("/bin/a", 43, "credential.assertion_command.command[0]"), words: ["/bin/a", "-v", "-v"],
          environment: ["CLIENT=client-7"], secrets: [Secret("client-7")], timeout: .seconds(3), type: .jwtBearer))
    ),
    (
      "credential: {assertion: {type: jwt-spiffe, file: secret}}",
      .assertionFile(assertion(located("dir/secret", 49, "credential.assertion.file"), .jwtSPIFFE))
    ),
    (
      "credential: {certificate: {certificate_file: cert.pem}}",
      .certificate(
        CertificateSettings(
          files: .pem(CertificateFiles(certificateFile: pem(45), keyFile: pem(45))), passphrase: nil, algorithm: nil,
          keyID: nil, sendsChain: false, audience: .tokenEndpoint))
    ),
    (
      "credential: {certificate: {pfx_file: cert.pem, passphrase: p, algorithm: RS256, key_id: k, send_chain: true, "
        + "audience: issuer}}",
      .certificate(
        CertificateSettings(
          files: .archive(located("dir/cert.pem", 37, "credential.certificate.pfx_file")),
          passphrase: located(Secret("p"), 59, "credential.certificate.passphrase"),
          algorithm: located(.rs256, 73, "credential.certificate.algorithm"),
          keyID: "k", sendsChain: true, audience: .issuer))
    ),
  ]

  private static func assertion(
    _ file: Located<String>, _ type: ClientAssertionType = .jwtBearer
  ) -> AssertionFileSettings {
    AssertionFileSettings(file: file, type: type, tokenProxy: nil, variables: [])
  }

  private static func pem(_ column: Int) -> Located<String> {
    located("dir/cert.pem", column, "credential.certificate.certificate_file")
  }

  private static func located<Value>(_ value: Value, _ column: Int, _ key: String) -> Located<Value> {
    Located(value, place: Place(file: "dir/f.yaml", line: 5, column: column + 64), key: "applications.a.\(key)")
  }

  @Test(arguments: credentials)
  func `a credential has one meaning, however it is written`(text: String, expected: CredentialSettings) throws {
    let settings = try decoded(
      Self.smallest + "\napplications: {a: {authority: https://i.example, client_id: c, \(text)}}")
    let application = try #require(settings.application(named: "a"))
    #expect(application.isConfidential)
    #expect(application.credential == expected)
    #expect(!settings.given.contains { $0.value == "s" || $0.value == "p" })
  }

  @Test func `members that only Microsoft's providers have are read`() throws {
    let entra = "authority: 'https://login.microsoftonline.com/contoso.example', client_id: c"
    let settings = try decoded(
      Self.smallest + """

        applications:
          a: {\(entra), client_secret: secret-enough, azure_region: westeurope, domain_hint: contoso.example}
          b: {\(entra), offline_access: false}
          c: {\(entra), client_secret: secret-enough, azure_region: auto}
          d: {\(entra), credential: {certificate: {pfx_file: cert.pem, claims: {client_ip: 192.0.2.7, n: 1}}}}
        """)
    func application(_ name: String) throws -> ApplicationSettings { try #require(settings.application(named: name)) }
    #expect(try application("a").region == AzureRegion("westeurope").map { .named($0) })
    #expect(try application("a").domainHint == DomainHint("contoso.example"))
    #expect(try application("a").hasOfflineAccess && !application("b").hasOfflineAccess)
    #expect(try application("b").region == nil && application("c").region == .discovered)
    #expect(try application("d").certificate?.claims.all == ["client_ip": "192.0.2.7", "n": "1"])
  }

  @Test(arguments: [
    ("{}", ManagedIdentityID.systemAssigned, ManagedIdentitySource.appService),
    ("{resource_id: /s/r}", .resourceID("/s/r"), .appService), ("{source: imds, object_id: o}", .objectID("o"), .imds),
  ])
  func `a managed identity has no provider, and is found by the environment`(
    text: String, id: ManagedIdentityID, source: ManagedIdentitySource
  ) throws {
    let yaml = """
      listeners: [{address: 127.0.0.1:8080}]
      applications: {a: {display_name: Machine, credential: {managed_identity: \(text)}}}
      routes:
        - {name: r, path: /, upstream: "https://a.example", application: a, token: {as: application, scopes: \
      [r/.default]}}
      """
    let settings = try Settings.decode(
      yaml: Array(yaml.utf8), file: "f.yaml",
      environment: [
        "IDENTITY_ENDPOINT": "http://127.0.0.1:1/t", "IDENTITY_HEADER": "s3cret",
        "HTTP_PROXY": "http://proxy.example:1",
      ])
    let application = try #require(settings.applications.first)
    let managed = try #require(application.managedIdentity)
    #expect(managed.identity.id == id && managed.identity.host.source == source)
    #expect(application.isConfidential && application.proxy == .none && application.displayName == "Machine")
    #expect(application.authority.value.isManagedIdentity && application.clientID == id.name)
    #expect(!settings.effectiveValues().contains { $0.value.contains("s3cret") })
  }

  @Test(arguments: [
    ("https://login.microsoftonline.com/t.example", "", "api://AzureADTokenExchange"),
    ("https://login.microsoftonline.us/t.example", "", "api://AzureADTokenExchangeUSGov"),
    ("https://login.partner.microsoftonline.cn/t.example", "", "api://AzureADTokenExchangeChina"),
    ("https://id.example/", ", audience: mine", "mine"),
  ])
  func `a federated identity's token is for the exchange of the authority's cloud`(
    authority: String, rest: String, audience: String
  ) throws {
    let settings = try decoded(
      Self.smallest + "\napplications: {a: {authority: '\(authority)', client_id: c, credential: {federated: "
        + "{managed_identity: {client_id: i, source: imds}\(rest)}}}}")
    let application = try #require(settings.applications.first)
    guard case .federated(.managedIdentity(let identity), let found)? = application.credential else {
      Issue.record("\(application)")
      return
    }
    #expect(found == audience && identity.identity.id == .clientID("i"))
    #expect(application.managedIdentity == nil && application.machineIdentity == identity)
    #expect(application.authority.value.description == authority.dropLast(authority.hasSuffix("/") ? 1 : 0))
  }

  @Test(arguments: [
    ("", "https://login.microsoftonline.com/t-1", "c-1"),
    (
      "authority: https://login.microsoftonline.com/t-2, client_id: c-2,", "https://login.microsoftonline.com/t-2",
      "c-2"
    ),
  ])
  func `a pod's environment says authority, client and file, and the configuration overrules it`(
    text: String, authority: String, clientID: String
  ) throws {
    let yaml = Self.smallest + "\napplications: {a: {\(text) credential: {workload_identity: {token_proxy: true}}}}"
    let settings = try Settings.decode(
      yaml: Array(yaml.utf8), file: "f.yaml",
      environment: [
        "AZURE_CLIENT_ID": "c-1", "AZURE_TENANT_ID": "t-1", "AZURE_FEDERATED_TOKEN_FILE": "/t",
        "AZURE_AUTHORITY_HOST": "https://login.microsoftonline.com/",
        "AZURE_KUBERNETES_TOKEN_PROXY": "https://10.0.0.1/p", "AZURE_KUBERNETES_CA_FILE": "/ca.pem",
      ], files: FileAccess(read: { _, _ throws(UnreadableFile) in [] }))
    let application = try #require(settings.applications.first)
    #expect(application.authority.value.description == authority && application.clientID == clientID)
    guard case .assertionFile(let file)? = application.credential else {
      Issue.record("\(application)")
      return
    }
    #expect(file.file.value == "/t" && file.variables == ["AZURE_FEDERATED_TOKEN_FILE"])
    #expect(application.tokenProxy?.caFile?.value == "/ca.pem")
  }

  @Test func `every setting is taken from the file`() throws {
    let settings = try decoded(
      """
      listeners:
        - address: 0.0.0.0:8443
          hosts: [Proxy.Example, "[::1]"]
          callers: {anyone: true}
          tls: {certificate_file: cert.pem, key_file: /abs/key.pem}
        - {address: "[::1]:0", hosts: ["*"]}
        - address: unix:/run/p.sock
      loops: 2
      admin: {address: 127.0.0.1:9901}
      log: {level: debug, format: text, access: false}
      cache: {memory: true}
      limits: {head_bytes: 16KiB, field_count: 50, connections: 10, body_bytes: 1MiB, caller_rate: none}
      shutdown: {limit: 5s}
      applications:
        entra:
          authority: https://login.microsoftonline.com/contoso.onmicrosoft.com
          client_id: ${CLIENT}
          client_secret: a$$b-c-d
          tls: {ca_file: ca.pem}
          client_capabilities: [cp1]
        other: {authority: https://id.example, client_id: 42, client_secret_file: secret}
      defaults:
        tls: {ca_file: ca.pem, certificate_file: cert.pem, key_file: key.pem}
        timeouts: {connect: 500ms, request_head: 1s, response_head: 2m, idle: 1h, exchange: 2h}
        pool: {max_idle: 0, idle_timeout: 1s}
      routes:
        - name: graph
          host: API.local
          path: /graph/
          methods: [GET, POST]
          upstream: https://graph.microsoft.com/v1.0
          application: entra
          token: {as: application, scopes: [https://graph.microsoft.com/.default]}
          preserve_host: true
          tls: {server_name: Other.Example, ca_file: /abs/ca.pem}
          timeouts: {connect: 1s, exchange: none}
          pool: {max_idle: 3}
        - name: any
          path: /any/
          upstream: http://far.example/
          allow_plaintext: true
          application: other
          token: {as: application}
        - {name: me, path: /me/, upstream: https://a.example, application: entra,
           token: {account: Alice@contoso.example, scopes: [User.Read]}}
        - {name: us, path: /us/, upstream: https://a.example, application: entra, token: {as: account, scopes: [a]}}
      """)
    #expect(settings.listeners.map(\.address.value.description) == ["0.0.0.0:8443", "[::1]:0", "unix:/run/p.sock"])
    #expect(settings.listeners.map(\.hosts) == [.names(["proxy.example", "::1"]), .any, .names([])])
    #expect(settings.listeners[0].callers.rules.isOpen)
    let tls = try #require(settings.listeners[0].tls)
    #expect(tls.certificateFile.value == "dir/cert.pem")
    #expect(tls.keyFile.value == "/abs/key.pem")
    #expect(
      tls.keyFile.issue("does not belong to the certificate").description
        == "dir/f.yaml:5:49: error: listeners[0].tls.key_file: does not belong to the certificate")
    #expect(settings.loops == 2)
    #expect(settings.admin?.address.value.description == "127.0.0.1:9901")
    #expect(settings.log.level == .debug && settings.log.format == .text && !settings.log.access)
    #expect(settings.limits.head.headBytes == 16384 && settings.limits.head.fieldCount == 50)
    #expect(settings.limits.connections == 10 && settings.limits.bodyBytes == 1_048_576)
    #expect(settings.limits.callerRate == nil)
    #expect(settings.shutdown.limit == .seconds(5))
    #expect(settings.limits.requestHead == .seconds(1))

    let entra = try #require(settings.application(named: "entra"))
    #expect(entra.clientID == "client-7")
    #expect(entra.clientSecret == Secret("a$b-c-d"))
    #expect(entra.caFile?.value == "dir/ca.pem")
    #expect(entra.clientCapabilities == ["cp1"])
    #expect(settings.application(named: "other")?.clientSecret == Secret("from file"))
    #expect(settings.applications.map(\.name) == ["entra", "other"])

    let graph = settings.routes[0]
    #expect(graph.host == "api.local" && graph.path == "/graph/" && graph.methods == ["GET", "POST"])
    #expect(graph.upstream.value.target == "/v1.0/")
    #expect(
      graph.token.issued
        == IssuedToken(application: "entra", scopes: try ScopeSet(["https://graph.microsoft.com/.default"])))
    #expect(graph.preserveHost)
    #expect(graph.tls.serverName == "other.example" && graph.tls.caFile?.value == "/abs/ca.pem")
    #expect(graph.tls.clientCertificate?.keyFile.value == "dir/key.pem")
    #expect(graph.timeouts.connect == .seconds(1) && graph.timeouts.idle == .seconds(3600))
    #expect(graph.timeouts.whole == nil)
    #expect(graph.pool.maximumIdle == 3 && graph.pool.idleTimeout == .seconds(1))
    #expect(settings.routes[1].token.issued == IssuedToken(application: "other", scopes: .none))
    let alice = "Alice@contoso.example"
    #expect(
      settings.routes[2].token.issued
        == IssuedToken(application: "entra", subject: .account(alice), scopes: try ScopeSet(["User.Read"])))
    #expect(
      settings.routes[3].token.issued
        == IssuedToken(application: "entra", subject: .account(nil), scopes: try ScopeSet(["a"])))
    #expect(settings.routes[1].timeouts.whole == .seconds(7200))
  }

  @Test func `no description of the settings shows a secret`() throws {
    let settings = try decoded(
      Self.smallest + """

        applications:
          a: {authority: https://id.example, client_id: c, client_secret: "hunter2-${SECRET}"}
        """)
    var dumped = ""
    dump(settings, to: &dumped)
    #expect(!dumped.contains("hunter2") && !dumped.contains("s3cr3t") && dumped.contains("[secret]"))
  }

  @Test func `values outside the file replace those in the file`() throws {
    let settings = try decoded(Self.smallest + "\nloops: 2\nlog: {level: error, format: text}")
    let same = settings.overridden(loops: nil, logLevel: nil, logFormat: nil)
    #expect(same.loops == 2 && same.log == settings.log)
    let other = settings.overridden(loops: 4, logLevel: .debug, logFormat: .json)
    #expect(other.loops == 4 && other.log.level == .debug && other.log.format == .json)
  }

  @Test func `a file that cannot be read is an issue of its first line`() {
    let files = FileAccess(
      read: { _, _ throws(UnreadableFile) in throw UnreadableFile("it is a pipe, not a regular file") })
    var read: Set<String> = []
    let error = #expect(throws: ConfigurationError.self) {
      try Settings.load(file: "/nowhere/x.yaml", environment: [:], files: files, read: &read)
    }
    #expect(
      error?.description
        == "/nowhere/x.yaml: error: cannot read the configuration: it is a pipe, not a regular file")
    #expect(read == ["/nowhere/x.yaml"])
  }
}

/// Decodes text as the file `dir/f.yaml`, with a few files beside it and a few variables around it.
func decoded(_ text: String, environment: [String: String] = [:]) throws(ConfigurationError) -> Settings {
  try Settings.decode(
    yaml: Array(text.utf8), file: "dir/f.yaml",
    environment: ["CLIENT": "client-7", "HOME": "/home/alice", "SECRET": "s3cr3t", "EMPTY": "", "DOLLAR": "${CLIENT}"]
      .merging(environment) { $1 },
    files: FileAccess(
      read: { path, limit throws(UnreadableFile) in
        switch path {
        case "dir/cert.pem", "dir/key.pem", "dir/ca.pem", "/abs/key.pem", "/abs/ca.pem": return Array("pem".utf8)
        case "dir/open-secret", "dir/open.key": return Array("from file".utf8)
        case "dir/secret": return Array("from file\r\n\n".utf8)
        case "dir/blank": return Array("\n".utf8)
        case "dir/keys", "dir/three-keys":
          let keys = (1...(path == "dir/keys" ? 2 : 3)).map { Base64.encode([UInt8](repeating: $0, count: 32)) }
          return Array((keys.joined(separator: "\r\n") + "\n").utf8)
        case "dir/small": return Array("12345\n".utf8)
        case "dir/spaces": return Array("  \t  \n".utf8)
        case "dir/big": throw UnreadableFile("larger than \(limit / 1024) KiB")
        case "dir/locked": throw UnreadableFile("Permission denied")
        default: throw UnreadableFile("No such file or directory")
        }
      }, findExposure: { $0.hasPrefix("dir/open") ? 0o644 : nil },
      judgeProgram: {
        $0 == "/bin/writable" ? "can be written by every user of this machine (mode 0777); chmod o-w helps" : nil
      }))
}
