// The message for each mistake in a route's token.

import TestSupport
import Testing

@testable import Configuration

extension `Route issues` {
  static let tokens = issueTable(
    """
    token: nonee
      routes[0].token is none, {account: NAME, scopes: […]}, {as: application, scopes: […]}, {header: NAME, value_file:
        FILE} or {basic: {…}}, not 'nonee'; did you mean 'none'?
    application: generic
      routes[0] needs 'token': none, {account: NAME, scopes: […]}, {as: application, scopes: […]}, {header: NAME,
        value_file: FILE} or {basic: {…}}
    application: generic, token: none
      routes[0].application has no meaning on a route with token: none
    token: {as: application}
      routes[0] needs 'application': whose token it is
    application: generic, token: {scopes: [a]}
      no issue
    application: public, token: {as: account}
      no issue
    application: shared, token: {account: alice@contoso.example, scopes: [User.Read, Mail.Read]}
      no issue
    application: entra, token: {scopes: [User.Read, openid]}
      routes[0].token.scopes: 'openid' is asked for with every sign-in and is no API's scope; leave it out
    application: entra, token: {account: a}
      routes[0].token.scopes: name at least one scope: login.microsoftonline.com gives a token for one API
    application: entra, token: {scopes: ['api://a/.default', 'api://a/x']}
      routes[0].token.scopes: login.microsoftonline.com takes 'api://a/.default' alone, without other scopes
    application: entra, token: {scopes: ['api://a/x', 'api://b/x']}
      routes[0].token.scopes: a token is for one API, not for both api://a and api://b; give each a route of its own
    application: entra, token: {scopes: [User.Read, 'api://b/x']}
      routes[0].token.scopes: a token is for one API, not for both https://graph.microsoft.com and api://b; give each a
        route of its own
    application: entra, token: {scopes: ['11111111-1111-1111-1111-111111111111/x', 'api://b/x']}
      routes[0].token.scopes: a token is for one API, not for both 11111111-1111-1111-1111-111111111111 and api://b;
        give each a route of its own
    # One API in several spellings.
    application: entra, token: {scopes: [User.Read, 'https://graph.microsoft.com/Mail.Read', email,
        '00000003-0000-0000-c000-000000000000/Files.Read']}
      no issue
    application: entra, token: {scopes: ['11111111-1111-1111-1111-111111111111/x',
        'api://11111111-1111-1111-1111-111111111111/y', email]}
      no issue
    application: generic, token: {scopes: [User.Read, 'api://b/x']}
      no issue
    application: generic, token: {as: application, account: alice}
      routes[0].token.account has a meaning with as: account and as: agent only
    application: generic, token: {as: caller}
      route 'a' exchanges its callers' tokens (as: caller), and the listener 127.0.0.1:8080 on line 2 demands none: set
        'callers: {bearer: …}' there
    application: public, token: {as: caller}
      routes[0].application: application 'public' has no credential (client_secret_file, client_assertion_file,
        credential), which as: caller needs
    application: machine, token: {as: caller, scopes: [a]}
      routes[0].application: 'machine' is a managed identity, which exchanges no tokens of callers
    application: generic, token: {as: caller, account: alice, on_interaction_required: redirect}
      routes[0].token.account has a meaning with as: account and as: agent only
      routes[0].token.on_interaction_required has a meaning with as: account only
    application: generic, token: {as: application, grant: token_exchange}
      routes[0].token.grant has a meaning with as: caller only
    application: generic, token: {as: caller, grant: jwt_bearer, subject_token_type: 'a:b', actor: {file: x}}
      routes[0].token.subject_token_type has no meaning with grant: jwt_bearer
      routes[0].token.actor has no meaning with grant: jwt_bearer
    application: generic, token: {as: caller, requested_token_type: 'urn:ietf:params:oauth:token-type:id_token'}
      routes[0].token.requested_token_type: 'urn:ietf:params:oauth:token-type:id_token' is no token for an API: write
        urn:ietf:params:oauth:token-type:access_token or urn:ietf:params:oauth:token-type:jwt, or leave it out
    application: generic, token: {as: caller, subject_token_type: jwt}
      routes[0].token.subject_token_type is a URI such as urn:ietf:params:oauth:token-type:access_token, not 'jwt'
    application: entra, token: {as: agent, scopes: [a/.default]}
      routes[0].token needs 'agent'
    application: entra, token: {as: agent, agent: helper, account: bob, scopes: [a/.default]}
      routes[0].token.agent is the client id of an agent identity, a GUID, not 'helper'
      routes[0].token.account: an agent's user is named by its user name, USER@DOMAIN, or its object id, not 'bob'
    application: entra, token: {as: application, \(agent), scopes: [a/.default]}
      routes[0].token.agent has a meaning with as: agent and as: caller only
    application: generic, token: {as: caller, \(agent)}
      routes[0].token.agent has no meaning with grant: token_exchange
    application: shared, token: {as: agent, \(agent), scopes: [a/.default]}
      routes[0].token.agent: an agent is of one tenant, and the authority https://login.microsoftonline.com/common names
        none: name one in 'tenant'
    application: shared, token: {as: agent, tenant: a.example, \(agent), scopes: [a/.default]}
      no issue
    application: machine, token: {as: agent, \(agent), scopes: [a]}
      routes[0].application: 'machine' is a managed identity, and agents are those of an application, which 'credential:
        {federated: {managed_identity: …}}' can prove
    application: public, token: {as: agent, \(agent)}
      routes[0].application: application 'public' has no credential (client_secret_file, client_assertion_file,
        credential), which an agent needs
    application: adfs, token: {as: agent, \(agent)}
      routes[0].token.agent: fs.example has no agent identities; Microsoft Entra has
    application: entra, token: {as: agent, \(agent), scopes: [a/b]}
      routes[0].token.scopes: login.microsoftonline.com gives an application a token for '<resource>/.default' only, not
        for 'a/b'
    application: entra, token: {as: agent, \(agent), account: a@b.example, scopes: [a/b], on_interaction_required:
        redirect}
      routes[0].token.on_interaction_required has a meaning with as: account only
    application: entra, token: {as: agent, \(agent), scopes: [a/.default], choice: {field: X-A, values: {a: {agent: b},
        b: {account: bob}, c: {agent: 0a1b2c3d-0000-4000-8000-00000000000b}}}}
      routes[0].token.choice.values.a.agent is the client id of an agent identity, a GUID, not 'b'
      routes[0].token.choice.values.b.account: an agent's user is named by its user name, USER@DOMAIN, or its object id,
        not 'bob'
    application: entra, token: {as: application, scopes: [a/.default], choice: {field: X-A, values: {a: {\(agent)}}}}
      routes[0].token.choice.values.a.agent has a meaning with as: agent and as: caller only
    application: generic, token: {as: application, choice: {field: Host, values: {a: {scopes: [a]}}}}
      routes[0].token.choice.field: 'Host' is no name for a field of your own, such as X-Account
    application: generic, token: {as: application, choice: {field: X-A, values: {a: {account: b}, c: {}}}}
      routes[0].token.choice.values.a.account has a meaning with as: account and as: agent only
      routes[0].token.choice.values.c needs 'account', 'agent', 'tenant' or 'scopes'
    application: entra, token: {scopes: [User.Read], choice: {field: X-A, values: {a: {scopes: ['api://b/x',
        'api://c/x']}}}}
      routes[0].token.choice.values.a.scopes: a token is for one API, not for both api://b and api://c; give each a
        route of its own
    application: generic, token: {as: caller, grant: id_jag, resource_application: entra, resource: 'urn:api', audience:
        a}
      route 'a' exchanges its callers' tokens (as: caller), and the listener 127.0.0.1:8080 on line 2 demands none: set
        'callers: {bearer: …}' there
      routes[0].token.audience has no meaning with grant: id_jag, whose audience is the server of 'resource_application'
    application: generic, token: {as: caller, grant: id_jag}
      routes[0].token needs 'resource_application'
    application: generic, token: {as: caller, grant: id_jag, resource_application: entre}
      routes[0].token.resource_application: there is no application 'entre'; did you mean 'entra'?
    application: generic, token: {as: caller, grant: id_jag, resource_application: public}
      routes[0].token.resource_application: 'public' has to be the application at the authorization server of the API,
        which is another one than https://id.example
    application: entra, token: {as: caller}
      routes[0].token.scopes: name at least one scope: login.microsoftonline.com gives a token for one API
    application: generic, token: {as: application, scopes: []}
      routes[0].token.scopes takes a list of at least one value: [a, b]
    application: machine, token: {as: application, scopes: [a/.default, b/.default]}
      routes[0].token.scopes: a managed identity's token is for one resource: name one scope
    application: machine, token: {account: alice, scopes: [a]}
      routes[0].token: a managed identity has tokens of its own alone: write as: application
    application: machine, token: {as: application, scopes: [a/.default], audience: x}
      routes[0].token.audience has no meaning with a managed identity, whose service takes a resource alone
    application: generic, token: {as: application, audience: api, resource: 'urn:api', parameters: {a: o}}
      no issue
    application: generic, token: {as: application, parameters: {grant_type: password}}
      routes[0].token.parameters.grant_type: 'grant_type' is not for a route to set: other settings decide grant,
        application and person
    application: generic, token: {as: application, resource: api}
      routes[0].token.resource: 'api' is not an absolute URI without a fragment (RFC 8707)
    application: generic, token: {as: application, parameters: [a]}
      routes[0].token.parameters takes names with a value each: {name: value}
    application: entra, token: {scopes: ['api://a/x'], resource: 'urn:api'}
      routes[0].token.resource: login.microsoftonline.com is told the resource by 'scopes': leave it out
    application: entra, token: {as: application, scopes: [User.Read]}
      routes[0].token.scopes: login.microsoftonline.com gives an application a token for '<resource>/.default' only, not
        for 'User.Read'
    application: entra, token: {as: application, scopes: [a/.default, b/.default]}
      routes[0].token.scopes: login.microsoftonline.com gives an application a token for exactly one
        '<resource>/.default', not for 2 scopes
    application: shared, token: {as: application, scopes: [a/.default]}
      routes[0].token.scopes: the authority https://login.microsoftonline.com/common names no tenant, so it has no
        tokens for an application itself: name one in 'tenant'
    application: shared, token: {as: application, tenant: contoso.example, scopes: [a/.default]}
      no issue
    application: entra, token: {as: application, tenant: common, scopes: [a/.default]}
      routes[0].token.scopes: the authority https://login.microsoftonline.com/common names no tenant, so it has no
        tokens for an application itself: name one in 'tenant'
    application: shared, token: {as: application, tenant: a/b, scopes: [a/.default]}
      routes[0].token.tenant: 'a/b' is not a tenant: neither an id, nor a domain
    application: generic, token: {tenant: contoso.example, scopes: [a]}
      routes[0].token.tenant is for Entra's tenants; the authority https://id.example of application 'generic' has none
    application: broken, token: {as: application, scopes: [a/.default]}
      no issue
    """)

  @Test(arguments: tokens)
  func `a token that could not be had is refused`(fragment: String, expected: [String]) {
    #expect(Self.issues(fragment) == expected)
  }
}
