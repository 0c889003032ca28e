// Owns the question where a provider's endpoints are, asked for its own sake: to see whether the authority is right.

internal import HTTPClient
public import Tokens

extension TokenBroker {
  /// What the provider of a subscription says of itself, asked once and kept as for token requests.
  public func discover(for subscription: TokenSubscription) async throws(AcquisitionError) -> ProviderMetadata {
    do throws(AcquisitionFailure) {
      return try await directory.metadata(for: subscription.application)
    } catch {
      throw error.error(for: subscription.key, retryAfter: 1)
    }
  }
}
