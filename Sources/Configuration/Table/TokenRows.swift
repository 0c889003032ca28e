internal import Routing

extension SectionShape {
  /// Keys of a credential in place of a token.
  static let fixed: [Key] = [.header, .basic]

  static let token = SectionShape(
    [
      Row(
        .as, .choice(SubjectWord.self), default: .value(SubjectWord.account.rawValue), without: fixed,
        """
        Whose token is added. account: that of a person who is signed in ('bearer-proxy login'). application: a token \
        for the application itself (client credentials). agent: a token for an agent identity at Entra, or for its \
        user. caller: a token for the caller, in exchange for the caller's own token.
        """),
      Row(
        .account, .text, without: fixed, of: [.account, .agent],
        """
        The person: user name, or an id from 'bearer-proxy accounts'. Default: the only account that is signed in. \
        With as: agent, the agent's user: user name or object id; default there: none, the token is for the agent \
        itself.
        """),
      Row(
        .agent, .text, without: fixed, of: [.agent, .caller],
        """
        With as: agent, the client id of an agent identity at Entra whose blueprint the application is. With as: \
        caller and grant: on_behalf_of, the agent that asks for the caller; default there: the application itself.
        """),
      Row(
        .tenant, .text, without: fixed,
        """
        At Entra: the tenant whose tokens these are, an id or a domain. For applications of several tenants, and \
        guests. Default: the tenant in the application's authority.
        """),
      Row(
        .scopes, .texts, without: fixed,
        """
        The scopes of one API; openid, profile and offline_access are requested with them. For an application at \
        Entra: exactly one <resource>/.default.
        """),
      Row(
        .scopesOnChallenge, .texts, without: fixed,
        """
        Further scopes that the upstream may demand with error="insufficient_scope". With the word discovered among \
        them, a demand that names no scopes, as MCP's servers send it, gets those of the list that the upstream's \
        metadata (RFC 9728) have in scopes_supported. Default: none.
        """),
      Row(
        .replayLimit, .size(0...(16 << 20)), default: .value(sizeText(Int(RouteTokenRules().replayLimit))),
        without: fixed,
        "The largest request body that is kept, to send the request again if the upstream rejects the token."),
      Row(
        .existing, .choice(RouteTokenRules.CallerAuthorization.self),
        default: .value(RouteTokenRules().existing.rawValue),
        """
        An Authorization field of the caller, or the field under header. replace: the route's token replaces it. keep: \
        it is sent instead of the token. reject: the request is rejected.
        """),
      Row(
        .whenUnavailable, .choice(RouteTokenRules.WhenUnavailable.self),
        default: .value(RouteTokenRules().whenUnavailable.rawValue), without: fixed,
        """
        If the provider gives no token for a reason that no sign-in can change. fail: the request gets an error. \
        forward_without: it is forwarded without a token.
        """),
      Row(
        .onInteractionRequired, .choice(RouteTokenRules.OnInteractionRequired.self),
        default: .value(RouteTokenRules().onInteractionRequired.rawValue), without: fixed, of: [.account],
        """
        What a browser's navigation gets if a person must sign in. challenge: a page with status 401. redirect: a \
        redirect to the sign-in page, if there is one.
        """),
      Row(
        .audience, .text, without: fixed,
        """
        For whom the token is to be, where a provider wants it beside the scopes (Auth0: the API's identifier). \
        Default: not sent.
        """),
      Row(
        .resource, .text, without: fixed,
        """
        For whom the token is to be, as an absolute URI (RFC 8707). It is sent with sign-ins and token requests, a URL \
        in its normal form: host in lower case, no slash at the end (but at AD FS as it is). Default: not sent.
        """),
      Row(
        .parameters, .values, without: fixed,
        """
        Further parameters of the token request, and of the sign-in's. None that decides grant, application or person. \
        They are not secret. Default: none.
        """),
      Row(
        .grant, .choice(CallerGrantSettings.Word.self), without: fixed, of: [.caller],
        """
        How the caller's token is exchanged. on_behalf_of: as Microsoft Entra has it. token_exchange: RFC 8693. \
        jwt_bearer: RFC 7523. id_jag: an identity assertion of the application's provider, then a token for it at the \
        API's own authorization server. Default: on_behalf_of at Entra and AD FS, token_exchange elsewhere.
        """),
      Row(
        .subjectTokenType, .text, without: fixed, of: [.caller],
        "With token_exchange and id_jag, what the caller's token is (RFC 8693 section 3). Default: an access token."),
      Row(
        .requestedTokenType, .text, without: fixed, of: [.caller],
        "With token_exchange, what is asked for: an access_token or a jwt. Default: what the provider usually issues."),
      Row(
        .actor, .section(actor), without: fixed, of: [.caller],
        "With token_exchange and id_jag, who acts for the caller. Default: only the application itself."),
      Row(
        .resourceApplication, .text, without: fixed, of: [.caller],
        "With id_jag, the application at the API's own authorization server."),
      Row(
        .choice, .section(choice), without: fixed,
        """
        Another token for requests that ask for it. The field is not forwarded. Without it, the route's own token is \
        added; twice, or with a value that is not listed, it gets 400.
        """),
      Row(
        .header, .text, without: [.basic],
        """
        Instead of a token, the field of an API that expects a key: X-API-Key, or Authorization with a scheme of its \
        own. The value does not expire. No application is needed.
        """),
      Row(
        .value, .text, beside: .header, without: [.valueFile], "The value of the field; take it from the environment."),
      Row(
        .valueFile, .file, beside: .header,
        "A file that holds the value. Line breaks at its end are ignored. A changed file is noticed."),
      Row(.basic, .section(basic), "Instead of a token, Basic credentials. No application is needed."),
    ],
    .schema("if", #"{ "properties": { "as": { "const": "agent" } }, "required": ["as"] }"#),
    .schema("then", #"{ "required": ["agent"] }"#))

  static let basic = SectionShape(
    [
      Row(.username, .text, isRequired: true, "The user name, without a colon."),
      Row(.password, .text, "The password; take it from the environment."),
      Row(.passwordFile, .file, "A file that holds the password. Line breaks at its end are ignored."),
    ], .oneOf([.password, .passwordFile]))

  static let actor = SectionShape([
    Row(.file, .file, isRequired: true, "A file with the actor's token, a JWT, read for each exchange."),
    Row(.type, .text, "What it is. Default: a JWT."),
  ])

  static let choice = SectionShape([
    Row(.field, .text, isRequired: true, "The name of the field."),
    Row(
      .values, .namedSections(tokenVariant), isRequired: true,
      "What each value stands for. What an entry leaves out is as the route has it."),
  ])

  static let tokenVariant = SectionShape(
    [
      Row(.account, .text, of: [.account, .agent], "Another account."),
      Row(.agent, .text, of: [.agent, .caller], "Another agent."),
      Row(.tenant, .text, "Another tenant."),
      Row(.scopes, .texts, "Other scopes."),
    ], .some)
}
