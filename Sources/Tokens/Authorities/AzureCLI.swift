// Owns what is known of Azure CLI as an application: the one family of applications that is shared with others'
// knowledge.

/// Azure CLI, as its provider knows it.
package enum AzureCLI {
  /// Its `client_id`, in lower case.
  package static let clientID = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
  /// The family whose members may redeem one another's refresh tokens; there is no other (`foci`).
  package static let family = "1"
}
