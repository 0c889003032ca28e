internal import Bytes
internal import Tokens

extension SectionShape {
  static let credential = SectionShape(
    [
      Row(.secret, .section(secret), "A client secret, as client_secret or client_secret_file."),
      Row(.assertion, .section(assertion), "A JWT of another issuer, as client_assertion_file."),
      Row(
        .assertionCommand, .section(assertionCommand),
        """
        A JWT that a command prints: a key in an HSM, Vault, a SPIFFE agent. It is run once for all who need the JWT, \
        which is kept until a minute before its end.
        """),
      Row(
        .certificate, .section(certificate),
        "A certificate with its private key, which signs a JWT for each token request (private_key_jwt, RFC 7523)."),
      Row(
        .mutualTLS, .section(mutualTLS),
        """
        A certificate with its private key, shown in the TLS handshake with the provider (tls_client_auth, \
        self_signed_tls_client_auth, RFC 8705).
        """),
      Row(
        .managedIdentity, .section(managedIdentity),
        """
        An identity of the machine (Azure managed identity): its own, or a user-assigned one by client_id, object_id \
        or resource_id. No authority, no client_id, no secret. For as: application only.
        """),
      Row(
        .federated, .section(federated),
        """
        A token that another service hands out, which the provider takes as the application's proof, in other tenants, \
        too. A federated identity credential of the application must name its identity.
        """),
      Row(
        .workloadIdentity, .section(workloadIdentity),
        """
        The identity of a pod, as Azure's webhook for workload identity describes it: authority, client_id and the \
        file with the service account's token come from AZURE_AUTHORITY_HOST, AZURE_TENANT_ID, AZURE_CLIENT_ID and \
        AZURE_FEDERATED_TOKEN_FILE. 'authority' and 'client_id' of the application override them.
        """),
    ], .one)

  static let secret = SectionShape(
    [
      Row(.value, .text, "The client secret itself; take it from the environment."),
      Row(.valueFile, .file, "A file that holds the client secret."),
    ], .one)

  static let assertion = SectionShape([
    Row(.file, .file, isRequired: true, "The file with the JWT, read for each token request."),
    Row(
      .type, .choice(ClientAssertionType.self), default: .value("jwt-bearer"),
      "What the provider takes it for: jwt-bearer, or jwt-spiffe for a SPIFFE JWT-SVID at Keycloak."),
  ])

  static let assertionCommand = SectionShape([
    Row(
      .command, .command, isRequired: true,
      """
      The program's whole path, then its arguments; no shell reads them. It gets PATH, LANG, and \
      BEARER_PROXY_CLIENT_ID, BEARER_PROXY_TOKEN_ENDPOINT and BEARER_PROXY_ISSUER.
      """),
    Row(.environment, .texts, "Variables of the proxy's own environment that it gets, too. Default: none."),
    Row(
      .timeout, .duration(.milliseconds(1)...(.seconds(60))),
      default: .value(durationText(AssertionCommandSettings.usualTimeout)),
      """
      How long it may run; then it and what it has started are killed.
      """),
    Row(
      .type, .choice(ClientAssertionType.self), default: .value("jwt-bearer"),
      "What the provider takes the JWT for: jwt-bearer, or jwt-spiffe for a SPIFFE JWT-SVID at Keycloak."),
  ])

  private static let certificateFiles: [Row] = [
    Row(.certificateFile, .file, "PEM: the certificate, then its chain."),
    Row(.keyFile, .file, "PEM: the private key, RSA, P-256, P-384 or P-521. Default: it is in certificate_file."),
    Row(
      .pfxFile, .file, without: [.keyFile],
      "PKCS #12 (PFX), as Azure Key Vault exports it: certificate, chain and key."),
    Row(
      .passphrase, .text, without: [.passphraseFile],
      "The passphrase; take it from the environment. Default: none."),
    Row(
      .passphraseFile, .file,
      "A file with the passphrase of an encrypted key. Line breaks at its end are ignored."),
  ]

  static let certificate = SectionShape(
    certificateFiles + [
      Row(
        .algorithm, .choice(ClientAssertionAlgorithm.self),
        """
        How the JWT is signed: PS256 (with x5t#S256), RS256 (with x5t), ES256, ES384 or ES512. Default: PS256 for \
        Entra, otherwise RS256; for an EC key the algorithm of its curve.
        """),
      Row(.keyID, .text, "The key's name at the provider (kid). Default: the certificate's thumbprint instead."),
      Row(
        .sendChain, .boolean, default: .value("false"),
        "Send the certificate and its chain in the JWT (x5c), for registration by subject name and issuer at Entra."),
      Row(
        .audience, .choice(ClientAssertionAudience.self), default: .value("token_endpoint"),
        "Whom the JWT is for: token_endpoint or issuer."),
      Row(
        .claims, .values,
        """
        Further claims of the JWT, each a text. None that an assertion has anyway: iss, sub, aud, exp, iat, nbf, jti.
        """),
    ], .oneOf([.certificateFile, .pfxFile]))

  static let mutualTLS = SectionShape(
    certificateFiles + [
      Row(
        .boundTokens, .boolean, default: .value("false"),
        """
        The provider binds its tokens to the certificate: upstreams are shown it, too. With false such a token is not \
        used.
        """)
    ], .oneOf([.certificateFile, .pfxFile]))

  static let managedIdentity = SectionShape([
    Row(.clientID, .text, "The client id of a user-assigned identity."),
    Row(.objectID, .text, without: [.clientID], "The object (principal) id of a user-assigned identity."),
    Row(.resourceID, .text, without: [.clientID, .objectID], "The Azure resource id of a user-assigned identity."),
    Row(
      .source, .choice(ManagedIdentitySource.self),
      """
      Which service of the machine hands out tokens: imds, app_service, azure_ml, cloud_shell, arc or service_fabric. \
      Default: what the environment's variables say, in MSAL's order; `check` prints it.
      """),
  ])

  static let federated = SectionShape(
    [
      Row(.managedIdentity, .section(managedIdentity), "The user-assigned identity whose token is the proof."),
      Row(
        .gcp, .section(SectionShape([])),
        """
        An identity token of Google Cloud's metadata server (machines, GKE pods, Cloud Run). GCE_METADATA_HOST of the \
        environment names another server.
        """),
      Row(
        .githubActions, .section(SectionShape([])),
        "The ID token of a job of GitHub Actions or Forgejo Actions, which needs the permission id-token: write."),
      Row(.application, .text, "Another application of this file, whose token is the proof."),
      Row(
        .audience, .text,
        "The audience of that token. Default: that of the authority's cloud, api://AzureADTokenExchange."),
    ], .oneOf([.managedIdentity, .gcp, .githubActions, .application]))

  static let workloadIdentity = SectionShape([
    Row(
      .tokenProxy, .boolean, default: .value("false"),
      "Send token requests to the proxy of an AKS identity binding (AZURE_KUBERNETES_TOKEN_PROXY).")
  ])
}
