// Mistakes that come with copied text: characters that look like others, and values of other products. Each is told
// with its place, its cause and its cure.

import Configuration
import TestSupport
import Testing

@testable import bearer_proxy

@Suite struct `Copied mistakes` {
  /// A secret's file.
  private static func secret(_ name: String, _ secret: String, _ message: String) -> Mistake {
    Mistake(
      testDescription: name, part: "client_secret: s3cret-of-the-app", wrong: "client_secret_file: secret",
      secret: secret,
      messages: ["7:25: \(message.replacing("SECRET", with: "applications.app.client_secret_file: secret"))"])
  }

  static let texts = Mistake.table(
    """
    a no-break space in the indentation |     client_id: | \u{A0}\u{A0}\u{A0}\u{A0}client_id:
      6:1: error: here is U+00A0 (no-break space), which looks like a space: type the character again; if it is meant,
        write "\\u00A0" in double quotes
    a no-break space behind a key | path: /orders/ | path:\u{A0}/orders/
      10:10: error: here is U+00A0 (no-break space), which looks like a space: type the character again; if it is meant,
        write "\\u00A0" in double quotes
    a no-break space behind a value | client_id: orders-proxy | client_id: orders-proxy\u{A0}
      6:28: error: here is U+00A0 (no-break space), which looks like a space: type the character again; if it is meant,
        write "\\u00A0" in double quotes
    typographic quotes | client_id: orders-proxy | client_id: \u{201C}orders-proxy\u{201D}
      6:16: error: here is U+201C (left double quotation mark), which looks like ": type the character again; if it is
        meant, write "\\u201C" in double quotes
    typographic quotes around what needs quotes | "127.0.0.1:0" | \u{2018}127.0.0.1:0\u{2019}
      1:23: error: here is U+2018 (left single quotation mark), which looks like ': type the character again; if it is
        meant, write "\\u2018" in double quotes
    a typographic dash before an element |   - name: orders |   \u{2013} name: orders
      9:3: error: here is U+2013 (en dash), which looks like -: type the character again; if it is meant, write
        "\\u2013" in double quotes
    a typographic dash in an id | orders-proxy | orders\u{2010}proxy
      6:22: error: here is U+2010 (hyphen), which looks like -: type the character again; if it is meant, write
        "\\u2010" in double quotes
    a zero-width space | orders.read | orders.\u{200B}read
      13:46: error: here is U+200B (zero width space), which is invisible: delete it; if it is meant, write "\\u200B" in
        double quotes
    a Cyrillic letter in a key | client_id: | \u{441}lient_id:
      6:5: error: here is U+0441 (cyrillic small letter es), which looks like the letter c: type the character again; if
        it is meant, write "\\u0441" in double quotes
    a Cyrillic letter in a host | https://orders.example/ | https://\u{43E}rders.example/
      11:23: error: here is U+043E (cyrillic small letter o), which looks like the letter o: type the character again;
        if it is meant, write "\\u043E" in double quotes
    a wide colon | path: /orders/ | path\u{FF1A} /orders/
      10:9: error: here is U+FF1A (fullwidth colon), which looks like :: type the character again; if it is meant, write
        "\\uFF1A" in double quotes
    a byte order mark in the middle | routes:⏎ | \u{FEFF}routes:⏎
      8:1: error: here is U+FEFF (zero width no-break space), which is invisible: delete it; if it is meant, write
        "\\uFEFF" in double quotes
    a template that was not filled in | client_id: orders-proxy | client_id: {{ client_id }}
      6:16: error: applications.app.client_id takes one value
      6:17: error: a key must be a word; '{{…}}' is a template's: fill it in, or write '${NAME}'
    an API's URI as the client's id | client_id: orders-proxy | client_id: api://orders-proxy
      6:16: warning: applications.app.client_id is a URL, such as an API's: write the id under which the application is
        registered
    a number as the authority's host | https://id.example/tenant | https://2852039166/
      5:16: error: applications.app.authority: 'https://2852039166/' has a number as its host: write an address as four
        decimal numbers, or the host's name
    """)

  static let filesAndVariables: [Mistake] = [
    Mistake(
      testDescription: "a variable with a no-break space", part: "orders-proxy", wrong: "${ID}",
      environment: ["ID": "orders-proxy\u{A0}"],
      messages: [
        "6:16: error: applications.app.client_id: what its variable holds contains U+00A0 (no-break space), which "
          + "looks like a space: set the variable again"
      ]),
    secret(
      "a byte order mark in a secret", "\u{FEFF}s3cret-of-the-app\n",
      "error: SECRET begins with a byte order mark, which an editor put there: save it as UTF-8 without one"),
    secret(
      "typographic quotes around a secret", "\u{201C}s3cret-of-the-app\u{201D}\n",
      "error: SECRET contains U+201C (left double quotation mark), which looks like \": copy the secret again"),
    secret(
      "a no-break space behind a secret", "s3cret-of-the-app\u{A0}\n",
      "error: SECRET contains U+00A0 (no-break space), which looks like a space: copy the secret again"),
    secret(
      "a control character in a secret", "s3cret\u{1B}-of-the-app",
      "error: SECRET contains a control character: copy the secret again"),
    secret(
      "a secret of PowerShell's", "s\0003\0c\0r\0e\0t\0",
      "error: SECRET is UTF-16, as PowerShell's '>' writes it: save it as UTF-8 without a byte order mark"),
  ]

  /// An authority, and what was meant.
  private static func authority(_ name: String, _ url: String, _ what: String, _ meant: String?) -> Mistake {
    Mistake(
      testDescription: name, part: "https://id.example/tenant", wrong: url,
      messages: [
        "5:16: error: applications.app.authority: '\(url)' is \(what), not the authority"
          + (meant.map { "; did you mean '\($0)'?" } ?? "")
      ])
  }

  /// From the authority to the scopes.
  private static let entra: (part: String, wrong: String) = {
    let right = `Likely mistakes`.right
    let part = String(right[(right.firstRange(of: "https://id.")?.lowerBound ?? right.startIndex)...])
    return (
      part,
      part.replacing("https://id.example/tenant", with: "https://login.microsoftonline.com/contoso.com")
        .replacing("client_secret: s3cret-of-the-app", with: "client_secret_file: secret")
        .replacing("[orders.read]", with: "[\"api://orders/.default\"]")
    )
  }()

  static let values: [Mistake] = [
    authority(
      "Entra's token endpoint", "https://login.microsoftonline.com/contoso.com/oauth2/v2.0/token",
      "the token endpoint", "https://login.microsoftonline.com/contoso.com"),
    authority(
      "Entra's metadata", "https://login.microsoftonline.com/contoso.com/v2.0/.well-known/openid-configuration",
      "the address of the provider's metadata", "https://login.microsoftonline.com/contoso.com"),
    authority(
      "Entra's former token endpoint", "https://login.microsoftonline.com/contoso.com/oauth2/token",
      "the token endpoint", "https://login.microsoftonline.com/contoso.com"),
    authority(
      "an issuer's metadata", "https://id.example/tenant/.well-known/openid-configuration",
      "the address of the provider's metadata", "https://id.example/tenant"),
    authority(
      "Keycloak's token endpoint", "https://id.example/realms/r/protocol/openid-connect/token", "the token endpoint",
      "https://id.example/realms/r"),
    authority(
      "Keycloak's keys", "https://id.example/realms/r/protocol/openid-connect/certs",
      "the address of the provider's keys", "https://id.example/realms/r"),
    authority(
      "Okta's token endpoint", "https://dev.okta.example/oauth2/default/v1/token", "the token endpoint",
      "https://dev.okta.example/oauth2/default"),
    authority(
      "Auth0's token endpoint", "https://dev.auth0.example/oauth/token", "the token endpoint",
      "https://dev.auth0.example"),
    authority(
      "Duende's authorization endpoint", "https://id.example/connect/authorize/", "the authorization endpoint",
      "https://id.example"),
    authority(
      "Ping's token endpoint", "https://id.example/as/token.oauth2", "the token endpoint", "https://id.example"),
    authority("authentik's token endpoint", "https://id.example/application/o/token/", "the token endpoint", nil),
    Mistake(
      testDescription: "a variable inside braces", part: "{as: application, scopes: [orders.read]}",
      wrong: "{as: ${KIND}, scopes: [orders.read]}", environment: ["KIND": "application"],
      messages: ["13:17: error: a variable inside braces or brackets needs quotes: write \"${NAME}\""]),
    Mistake(
      testDescription: "a variable inside brackets", part: "[orders.read]", wrong: "[${SCOPE}]",
      environment: ["SCOPE": "orders.read"],
      messages: ["13:39: error: a variable inside braces or brackets needs quotes: write \"${NAME}\""]),
    Mistake(
      testDescription: "the id of a secret", part: entra.part, wrong: entra.wrong,
      secret: "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0",
      messages: [
        "5:16: warning: applications.app.authority: the client secret of application 'app' has the form of an id: the "
          + "portal lists 'Secret ID' beside 'Value', and the value is the secret"
      ]),
    secret(
      "a secret of two lines", "s3cret-of-the-app\nanother\n",
      "error: SECRET has 2 lines, and a secret is one: keep the secret alone"),
    secret(
      "a key in the place of a secret", "-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n",
      "error: SECRET holds a PEM block, which is a certificate or a key: name its file under 'credential: "
        + "{certificate: …}'"),
    secret(
      "a line of a .env file", "CLIENT_SECRET=s3cret-of-the-app\n",
      "warning: SECRET looks like NAME=VALUE: keep the value alone"),
    secret(
      "quotes of a .env file", "\"s3cret-of-the-app\"\n",
      "warning: SECRET begins and ends with a quotation mark, which is part of it: remove both if the secret has none"),
    secret(
      "a provider's JSON", "{\"password\": \"s3cret-of-the-app\"}\n",
      "warning: SECRET looks like JSON: keep the secret's value alone"),
    secret(
      "a blank behind a secret", "s3cret-of-the-app \n",
      "warning: SECRET begins or ends with a blank, which is part of it: remove the blank if the secret has none"),
    secret(
      "the example's words", "THE CLIENT SECRET\n",
      "warning: SECRET is a placeholder: put the secret in its place"),
  ]

  @Test(arguments: texts + filesAndVariables + values)
  func `a copied mistake is told with place, cause and cure`(mistake: Mistake) async throws {
    let directory = try TemporaryDirectory()
    let right = `Likely mistakes`.right
    try #require(right.contains(mistake.part))
    let file = try directory.write(right.replacing(mistake.part, with: mistake.wrong), to: "p.yaml")
    try directory.write(mistake.secret, to: "secret")
    let answer = await Command.check(configuration: file).answer(in: CommandContext(environment: mistake.environment))
    let said = answer.text.split(separator: "\n").map { $0.replacing(directory.path + "/", with: "") }
    #expect(
      said.filter { $0.contains(": error: ") || $0.contains(": warning: ") } == mistake.messages.map { "p.yaml:\($0)" })
    #expect((answer.status == .usage) == mistake.messages.contains { $0.contains(": error: ") })
    #expect(!answer.text.contains("s3cret-of-the-app"))
  }

  static let honest: [(String, String)] = [
    (
      "client_id: orders-proxy",
      "display_name: \u{201C}Bestellungen\u{201D} \u{2013} f\u{FC}r\u{A0}alle\n    client_id: orders-proxy"
    ),
    ("client_id: orders-proxy", "client_id: bestellungen-f\u{FC}r-\u{43C}\u{438}\u{440}"),
    ("client_id: orders-proxy", "client_id: \"orders\\u2010proxy\""),
    ("client_id: orders-proxy", "client_id: orders-proxy    # \u{201C}the\u{A0}app\u{201D}"),
    ("client_secret: s3cret-of-the-app", "client_secret: s3cret\u{E9}\u{DF}-of-the-app"),
    ("https://id.example/tenant", "https://login.microsoftonline.com.example/tenant/v2.0"),
    ("https://id.example/tenant", "https://is.example/oauth2/token"),
    ("{as: application, scopes: [orders.read]}", "{as: \"${KIND}\", scopes: [orders.read]}"),
    ("listeners:", "\u{FEFF}listeners:"),
    ("client_secret: s3cret-of-the-app", "client_secret: \"${WITH_END}\""),
  ]

  @Test(arguments: honest)
  func `an honest text passes`(part: String, other: String) async throws {
    let directory = try TemporaryDirectory()
    let file = try directory.write(
      `Likely mistakes`.right.replacing(part, with: other, maxReplacements: 1), to: "p.yaml")
    let answer = await Command.check(configuration: file)
      .answer(in: CommandContext(environment: ["KIND": "application", "WITH_END": "s3cret-of-the-app\n"]))
    #expect(answer.text == "\(file): ok (1 route, 1 application)\n")
  }
}
