// The files of the demonstration, with comments for their readers.

import DemoProvider

/// Addresses of the demonstration, and the names of files in its folder, in which all commands run.
struct DemoPlaces {
  /// The absolute path of the folder.
  var directory: String
  var proxyPort: UInt16 = 8080
  var adminPort: UInt16 = 9901
  /// The first of the two further proxies.
  var gatewayOrigin: String
  var services: DemoServices

  static let program = "./bearer-proxy"
  static let log = "proxy.log"
  static let cache = "msal_token_cache.json"
  static let authority = "demo-ca.pem"
  /// The cookies of the person who signs in.
  static let cookies = "browser-cookies"

  var proxyOrigin: String { "http://127.0.0.1:\(proxyPort)" }
  /// The proxy's origin for browsers.
  var pagesOrigin: String { "http://localhost:\(proxyPort)" }
  var adminOrigin: String { "http://127.0.0.1:\(adminPort)" }
  var readiness: String { "\(adminOrigin)/readyz" }
  /// The sign-in page for Alice, which leads her back to `path`.
  func signIn(_ path: String) -> String { "\(pagesOrigin)/.bearer/sign-in?route=my-orders&return=\(path)" }
}

/// The configuration of a proxy that calls on in its callers' names: with a token for `scope`, at `upstream`. The
/// system chooses its port.
func hopConfiguration(_ name: String, client: String, scope: String, upstream: String, issuer: String) -> String {
  let trust = "ca_file: \(DemoPlaces.authority)"
  return """
    # Written by bearer-proxy-demo at every start: a proxy that calls on in the names of its callers.

    listeners:
      - address: 127.0.0.1:0
        # Callers bring a token for this proxy.
        callers: {bearer: {authority: \(issuer), audiences: [\(client)], \(trust)}}
    cache: {memory: true}
    applications:
      \(name): {authority: \(issuer), client_id: \(client), client_secret_file: client-secret, tls: {\(trust)}}
    defaults: {tls: {\(trust)}}
    # The next one gets a token in the caller's name, in exchange for what the caller brought.
    routes:
      - {name: next, path: /, upstream: "\(upstream)", application: \(name),
         token: {as: caller, grant: on_behalf_of, scopes: ["\(scope)"]}}

    """
}

/// A program that gets its token as Azure's SDKs do, and calls the API by itself.
func demoProgram(_ places: DemoPlaces) -> String {
  """
  # Written by bearer-proxy-demo at every start: what ManagedIdentityCredential of Azure's SDKs requests on App Service.
  question="api-version=2019-08-01&resource=\(DemoDirectory.Sample.ordersURI)"
  answer=$(printf 'X-IDENTITY-HEADER: %s' "$IDENTITY_HEADER" | curl -sS -H @- "$IDENTITY_ENDPOINT?$question")
  token=$(printf %s "$answer" | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
  printf 'Authorization: Bearer %s' "$token" \\
    | curl -sS -H @- --cacert \(DemoPlaces.authority) \(places.services.apiOrigin)/api/me | grep '"application":'

  """
}

/// The configuration of the proxy that the tour calls.
func demoConfiguration(_ places: DemoPlaces) -> String {
  typealias Sample = DemoDirectory.Sample
  let trust = "tls: {ca_file: \(DemoPlaces.authority)}"
  let (orders, ledger) = ("\"\(places.services.apiOrigin)/api/\"", "\"\(places.services.apiOrigin)/ledger/\"")
  let own = "token: {as: application, scopes: [\"\(Sample.ordersURI)/.default\"]}"
  let hers = "token: {account: \(Sample.alice), scopes:"
  return """
    # Written by bearer-proxy-demo at every start. config/full.yaml explains every key.

    # Where the app calls. Loopback only: any other address needs a rule for who may call.
    listeners:
      - address: 127.0.0.1:\(places.proxyPort)
        # Pages below /.bearer/ where people sign in.
        sign_in: true
      # Programs with connections of their own get tokens here; the system chooses the port.
      - address: 127.0.0.1:0
        programs:
          # It believes that it runs on Azure App Service.
          reports: {shape: app_service, secret_file: reports-secret, tokens: [{route: orders}]}

    # Health, readiness and metrics.
    admin: {address: "127.0.0.1:\(places.adminPort)"}

    # One application registration per identity that the proxy may act as.
    applications:
      portal:
        authority: \(places.services.issuer)
        client_id: \(Sample.portal)
        client_secret_file: client-secret
        \(trust)
      # Registered too, and granted nothing: the API answers it with 403.
      visitor: {authority: \(places.services.issuer), client_id: \(Sample.visitor), \(trust),
        client_secret_file: client-secret}
      # Without a secret: a certificate proves this one, with a signed JWT for each token request.
      nightly: {authority: \(places.services.issuer), client_id: \(Sample.nightly), \(trust),
        credential: {certificate: {certificate_file: client.pem, key_file: client.key, algorithm: PS256}}}
      # With nothing to keep at all: the machine's own service hands out tokens for its identity.
      machine: {credential: {managed_identity: {source: imds}}}
      # A public application: it keeps no secret, and people sign in to it.
      desk:
        # What people read on pages.
        display_name: Orders desk
        authority: \(places.services.issuer)
        client_id: \(Sample.desk)
        # It can answer claims challenges.
        client_capabilities: [cp1]
        \(trust)

    # Tokens and accounts, in the file that every MSAL reads and writes.
    cache: {file: \(DemoPlaces.cache)}

    # The APIs' certificate is verified against the demonstration's own authority.
    defaults: {\(trust)}

    routes:
      # /orders/me becomes \(places.services.apiOrigin)/api/me, with a token of the application's own.
      - {name: orders, path: /orders/, upstream: \(orders), application: portal, \(own)}
      - {name: visitor, path: /visitor/, upstream: \(orders), application: visitor, \(own)}
      - {name: nightly, path: /nightly/, upstream: \(orders), application: nightly, \(own)}
      - {name: machine, path: /machine/, upstream: \(orders), application: machine, \(own)}
      # With the token of a person who has signed in once: another one for each API.
      - {name: my-orders, display_name: Your orders, path: /my/orders/, upstream: \(orders), application: desk,
         \(hers) ["\(Sample.ordersURI)/Orders.Read"]}}
      - {name: my-ledger, display_name: Your ledger, path: /my/ledger/, upstream: \(ledger), application: desk,
         \(hers) ["\(Sample.ledgerURI)/Ledger.Read"]}}
      # Orders again, by way of two more proxies: gateway.yaml and branch.yaml.
      - {name: chain, path: /chain/, upstream: "\(places.gatewayOrigin)/", application: desk,
         \(hers) ["\(Sample.gatewayURI)/Gateway.Access"]}}

    """
}
