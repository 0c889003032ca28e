// The message for each mistake in an application.

import TestSupport
import Testing

@testable import Configuration

extension `Configuration issues` {
  static let applicationCases = issueTable(
    """
    applications: {a b: {authority: https://i.example, client_id: c}}
      applications: 'a b' is not a name of at most 64 letters, digits, '-', '_', '.'
    applications: [a]
      applications takes a name and, below it, keys
    applications: {a: {}}
      applications.a needs 'authority'
      applications.a needs 'client_id'
    applications: {a: {authority: 'https://login.microsoftonline.com/organizations', client_id: c, family_tokens: true}}
      applications.a.family_tokens is for Azure CLI's client_id alone (04b07795-8ddb-461a-bbee-02f9e1bf7b46), without a
        secret
    applications: {a: {authority: 'https://login.microsoftonline.com/organizations', family_tokens: true, client_id:
        04B07795-8ddb-461a-bbee-02f9e1bf7b46}}
      no issue
    applications: {a: {authority: 'https://id.example', client_id: c, azure_region: West, domain_hint: a@b}}
      applications.a.azure_region is for Microsoft Entra's hosts; id.example has no regions
      applications.a.azure_region needs a credential: regions serve an application's own tokens alone
      applications.a.azure_region is auto or a region such as westeurope, not 'West'
      applications.a.domain_hint is for Microsoft's providers; id.example knows no domain_hint
      applications.a.domain_hint is a domain such as contoso.com, organizations or consumers, not 'a@b'
    applications: {a: {authority: 'https://login.microsoftonline.com/organizations', family_tokens: true, client_id:
        04B07795-8ddb-461a-bbee-02f9e1bf7b46, offline_access: false}}
      applications.a.offline_access: false contradicts 'family_tokens', which are refresh tokens
    applications: {a: {authority: 'https://i.example', client_id: c, credential: {certificate: {certificate_file:
        secret, claims: {jti: '1'}}}}}
      applications.a.credential.certificate.claims.jti: each assertion has a value of its own for it; leave it out
    applications: {a: {authority: id.example, client_id: c}}
      applications.a.authority: 'id.example' begins neither with https:// nor with http://: write the whole URL
    applications: {a: {authority: https://login.microsoftonline.com/, client_id: c}}
      applications.a.authority: 'https://login.microsoftonline.com/' names no tenant: add its id or domain to the path
    applications: {a: {authority: 'http://localhost:9', client_id: c, credential: {mutual_tls: {certificate_file:
        cert.pem, key_file: key.pem}}}}
      applications.a.credential.mutual_tls needs an authority with https:, whose handshake shows the certificate
    applications: {a: {authority: 'https://login.microsoftonline.de/t', client_id: c}}
      applications.a.authority: login.microsoftonline.de was Microsoft's cloud in Germany, which was closed in 2021: its
        tenants are gone
    applications: {a: {credential: {managed_identity: {client_id: a, object_id: b}}}}
      applications.a.credential.managed_identity has both 'client_id' and 'object_id'; keep one
    applications: {a: {authority: https://i.example, client_id: c, credential: {federated: {application: bb}}}, bbb:
        {authority: https://i.example, client_id: c}}
      applications.a.credential.federated.application: there is no application 'bb'; did you mean 'bbb'?
    applications: {a: {authority: https://i.example, client_id: c, credential: {federated: {application: b}}}, b:
        {authority: https://i.example, client_id: c}}
      applications.a.credential.federated.application: application 'b' has no credential, so it has no tokens of its own
    applications: {a: {credential: {workload_identity: {token_proxy: true}}}}
      applications.a.credential.workload_identity: the environment has no AZURE_FEDERATED_TOKEN_FILE: does the pod have
        the label azure.workload.identity/use, and a service account with a client id?
      applications.a.credential.workload_identity.token_proxy: the environment has no AZURE_KUBERNETES_TOKEN_PROXY: does
        the cluster have an identity binding for this service account?
    applications: {a: {credential: {managed_identity: {source: azure_ml}}}}
      applications.a.credential.managed_identity: source 'azure_ml' needs the variable MSI_ENDPOINT, which the
        environment does not have
    applications: {a: {credential: {managed_identity: {}}}, b: {client_secret: s3cret, credential: {managed_identity:
        {}}}}
      applications.b has both 'client_secret' and 'credential'; keep one
    # A neighbour's password is never looked for in answers, so that one letter harms nothing.
    cache: {redis: 'redis://127.0.0.1', password_file: small}
      no issue
    cache: {redis: 'redis://127.0.0.1', password: '  '}
      cache.password has blanks and line ends alone, which are no secret
    """)

  /// Members of an application beside its authority and client id.
  static let memberCases = issueTable(
    """
    client_secret: s3cret, client_assertion_file: secret
      applications.a has both 'client_secret' and 'client_assertion_file'; keep one
    client_secret: s3cret, credential: {assertion: {file: secret}}
      applications.a has both 'client_secret' and 'credential'; keep one
    credential: {}
      applications.a.credential needs 'secret', 'assertion', 'assertion_command', 'certificate', 'mutual_tls',
        'managed_identity', 'federated' or 'workload_identity'
    credential: {mutual_tls: {pfx_file: cert.pem, key_file: key.pem, algorithm: RS256}}
      applications.a.credential.mutual_tls has both 'pfx_file' and 'key_file'; keep one
      unknown key 'algorithm' in applications.a.credential.mutual_tls
    credential: {secret: {value: s3cret}, assertion: {file: secret}}
      applications.a.credential has both 'secret' and 'assertion'; keep one
    credential: {managed_identity: {source: aks}}, proxy: none
      applications.a.authority has no meaning with a managed identity, which asks no provider
      applications.a.client_id has no meaning with a managed identity, which asks no provider
      applications.a.credential.managed_identity.source is one of imds, app_service, azure_ml, cloud_shell, arc,
        service_fabric, not 'aks'
      applications.a.proxy has no meaning with a managed identity, which asks no provider
    credential: {federated: {}}
      applications.a.credential.federated needs 'managed_identity', 'gcp', 'github_actions' or 'application'
    credential: {federated: {gcp: {}, application: b}}
      applications.a.credential.federated has both 'gcp' and 'application'; keep one
    credential: {federated: {github_actions: {}, audience: a b}}
      applications.a.credential.federated.github_actions: the environment has no ACTIONS_ID_TOKEN_REQUEST_URL: a job has
        it with the permission 'id-token: write'
      applications.a.credential.federated.audience: 'a b' is not one word without blanks, quotes and backslashes
    credential: {federated: {application: a}}
      applications.a.credential.federated.application: applications prove one another in a circle: a, a
    credential: {assertion: {file: secret, type: saml}}
      applications.a.credential.assertion.type is one of jwt-bearer, jwt-spiffe, not 'saml'
    credential: {federated: {managed_identity: {}, audience: ''}}
      applications.a.credential.federated.managed_identity names no identity: as a credential only a user-assigned one
        is accepted; write its 'client_id'
      applications.a.credential.federated.audience is empty
    credential: {secret: {}}
      applications.a.credential.secret needs 'value' or 'value_file'
    credential: {assertion: {}}
      applications.a.credential.assertion needs 'file'
    credential: {certificat: {}}
      applications.a.credential needs 'secret', 'assertion', 'assertion_command', 'certificate', 'mutual_tls',
        'managed_identity', 'federated' or 'workload_identity'
      unknown key 'certificat' in applications.a.credential; did you mean 'certificate'?
    credential: {certificate: {key_file: secret}}
      applications.a.credential.certificate needs 'certificate_file' or 'pfx_file'
    credential: {certificate: {certificate_file: secret, pfx_file: secret}}
      applications.a.credential.certificate has both 'certificate_file' and 'pfx_file'; keep one
    credential: {certificate: {pfx_file: gone}}
      applications.a.credential.certificate.pfx_file: cannot read dir/gone: No such file or directory
    credential: {certificate: {certificate_file: secret, passphrase: a, passphrase_file: secret, algorithm: HS256,
        audience: me, send_chain: 1}}
      applications.a.credential.certificate has both 'passphrase' and 'passphrase_file'; keep one
      applications.a.credential.certificate.algorithm is one of PS256, RS256, ES256, ES384, ES512, not 'HS256'; did you
        mean 'PS256'?
      applications.a.credential.certificate.audience is one of token_endpoint, issuer, not 'me'
      applications.a.credential.certificate.send_chain is true or false, not '1'
    client_authentication: client_secret_post, credential: {certificate: {certificate_file: secret}}
      applications.a.client_authentication needs 'client_secret' or 'client_secret_file' beside it
    client_authentication: client_secret_post
      applications.a.client_authentication needs 'client_secret' or 'client_secret_file' beside it
    client_secret: s3cret, client_authentication: basic
      applications.a.client_authentication is one of client_secret_basic, client_secret_post, not 'basic'
    client_assertion_file: gone
      applications.a.client_assertion_file: cannot read dir/gone: No such file or directory
    client_secret_file: gone
      applications.a.client_secret_file: cannot read dir/gone: No such file or directory
    client_secret_file: blank
      applications.a.client_secret_file: dir/blank is empty
    client_secret: s
      applications.a.client_secret: a client secret has at least 6 bytes; a shorter one is a mistake, or the provider
        must give another
    client_secret: '12345'
      applications.a.client_secret: a client secret has at least 6 bytes; a shorter one is a mistake, or the provider
        must give another
    credential: {secret: {value_file: small}}
      applications.a.credential.secret.value_file: a client secret has at least 6 bytes; a shorter one is a mistake, or
        the provider must give another
    client_secret: '123456'
      no issue
    client_secret: '        '
      applications.a.client_secret has blanks and line ends alone, which are no secret
    client_secret_file: spaces
      applications.a.client_secret_file: dir/spaces has blanks and line ends alone, which are no secret
    credential: {assertion_command: {command: /bin/a -v}}
      applications.a.credential.assertion_command.command takes a list: [/path/of/program, argument]; no shell reads it
    credential: {assertion_command: {command: []}}
      applications.a.credential.assertion_command.command takes a list: [/path/of/program, argument]; no shell reads it
    credential: {assertion_command: {timeout: 1s}}
      applications.a.credential.assertion_command needs 'command'
    credential: {assertion_command: {command: [sign]}}
      applications.a.credential.assertion_command.command[0]: 'sign' is not the whole path of a program: begin it with
        '/'
    credential: {assertion_command: {command: [/bin/a], environment: [NOT_THERE], timeout: 61s}}
      applications.a.credential.assertion_command.environment[0] names 'NOT_THERE', which the environment does not have:
        set it where the process starts
      applications.a.credential.assertion_command.timeout is at most 60s
    credential: {assertion_command: {command: [/bin/writable]}}
      applications.a.credential.assertion_command.command[0]: /bin/writable can be written by every user of this machine
        (mode 0777); chmod o-w helps
    client_secret_file: big
      applications.a.client_secret_file: cannot read dir/big: larger than 64 KiB
    """)

  @Test(arguments: applicationCases)
  func `an application is refused with the key`(fragment: String, expected: [String]) {
    #expect(messages(beside: fragment) == expected)
  }

  @Test(arguments: memberCases)
  func `a member of an application is refused with its key`(fragment: String, expected: [String]) {
    let application = "{authority: https://i.example, client_id: c, \(fragment)}"
    #expect(messages(beside: "applications: {a: \(application)}") == expected)
  }
}
