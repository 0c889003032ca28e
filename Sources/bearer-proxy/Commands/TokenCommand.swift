// `token`: what silent acquisition gives a route, shown to a person or a program. The token itself only on demand.

import Bytes
import Configuration
import HTTP
import HTTPClient
import Identity
import Proxy
import Routing
import Tokens

extension TokenCommand {
  func answer(in context: CommandContext) async throws(CommandError) -> CommandAnswer {
    if let format = format {
      return try await answer(as: format, in: context)
    }
    let loaded = try context.configuration(configuration)
    let settings = loaded.settings
    let route = try settings.route(self.route, in: configuration)
    if route.token.isCallers {
      throw .usage("route '\(route.name)' exchanges its callers' tokens (as: caller), and has none of its own to show")
    }
    let network = try context.network()
    let subscription = loaded.subscription(
      of: route.token.issued, fetch: context.providers(loaded, network))
    guard let subscription else {
      let added = route.token.fixed.map { "\($0.name.text), which the configuration has, and no token" } ?? "no token"
      throw .usage("route '\(route.name)' adds \(added)")
    }
    let store = await context.open(loaded.cache, network)
    let broker = TokenBroker(
      TokenBroker.Surroundings(now: context.now, patience: TokenBroker.endlessPatience), store: store)
    do throws(AcquisitionError) {
      let report = TokenReport(
        route: route.name, subscription: subscription, value: try await broker.bearer(for: subscription),
        now: context.now(), reveal: reveal)
      await context.keep(store, in: loaded.cache)
      return CommandAnswer(text: form == .json ? report.json : report.text, status: .done)
    } catch {
      if form == .json {
        let object = refusal(error, subscription).canonicalText() + "\n"
        return CommandAnswer(text: object, status: error.exitStatus, stream: .output)
      }
      throw .failed(
        "no token for route '\(route.name)': \(error.reason): \(error.detail)", status: error.exitStatus,
        advice: loaded.advice(
          for: route, OperatorCommands(settings, cache: settings.cache, configuration: configuration)
        ).advice(error))
    }
  }

  private func refusal(_ error: AcquisitionError, _ subscription: TokenSubscription) -> JSONValue {
    let required = error.interactionRequired
    return JSONValue([
      "route": route, "application": subscription.application.name,
      "authority": subscription.key.authority.description, "agent": subscription.key.agent, "error": error.reason,
      "detail": error.detail, "retry_after": error.retryAfter ?? 1, "reason": required?.reason.rawValue,
      "scopes": required?.scopes.words, "claims": required?.claims?.text, "account": required?.accountName,
    ])
  }
}

extension AcquisitionError {
  /// The exit status of a command that met this.
  var exitStatus: ExitStatus { interactionRequired == nil ? .failed : .interactionRequired }
}

/// A token's description, with the token itself if that was asked for.
struct TokenReport {
  let route: String
  let subscription: TokenSubscription
  let value: BearerValue
  let now: UnixTime
  let reveal: Bool

  private var origin: TokenOrigin { value.origin }

  private var expiresIn: Int64 { value.lifetime.expiresAt - now }

  private var expiryDate: String {
    var buffer = ByteBuffer(capacity: HTTPDate.byteCount)
    HTTPDate.write(value.lifetime.expiresAt.seconds, into: &buffer)
    return buffer.bytes.text
  }

  /// One JSON object on a line.
  var json: String {
    let account = origin.account.map {
      JSONValue(["username": $0.username, "home_account_id": $0.homeAccountID, "environment": $0.environment])
    }
    let report = JSONValue([
      "route": route, "application": subscription.application.name,
      "authority": subscription.key.authority.description, "token_type": "Bearer", "scopes": value.scopes.words,
      "expires_on": value.lifetime.expiresAt, "expires_in": expiresIn, "token_source": origin.source.rawValue,
      "agent": subscription.key.agent, "tenant": origin.tenant, "account": account,
      "access_token": reveal ? value.revealedToken() : nil,
    ])
    return report.canonicalText() + "\n"
  }

  /// A line for each fact.
  var text: String {
    var rows = [("route", route), ("application", subscription.application.name)]
    if let agent = subscription.key.agent { rows.append(("agent", agent)) }
    rows.append(("authority", subscription.key.authority.description))
    if let tenant = origin.tenant { rows.append(("tenant", tenant)) }
    if let account = origin.account { rows.append(("account", account.name)) }
    rows.append(("scopes", value.scopes.isEmpty ? "(none stated)" : value.scopes.description))
    rows.append(("expires", "\(expiryDate) (in \(words(seconds: expiresIn)))"))
    rows.append(("source", origin.source == .cache ? "cache" : "identity provider"))
    if reveal { rows.append(("token", value.revealedToken())) }
    return rows.map { name, fact in "\(name):".padded(13) + fact.printable(limit: 65_536) + "\n" }.joined()
  }
}
