// Owns whom a `login` expects: the account of the configuration, or the only person who is signed in. Where it is
// nobody in particular, the person is asked once it is known who signed in.

import Tokens

/// Whom a sign-in is for.
struct LoginExpectation: Equatable {
  /// Whose tokens alone are kept: a user name or an id; nil is anybody's.
  var account: String?
  /// What the provider is told of it.
  var hint: String?
  /// What the provider shows.
  var prompt: Prompt?

  /// Whether it has to be asked if the right person signed in.
  var isOpen: Bool { account == nil }

  /// Works it out.
  /// - Parameters:
  ///   - named: the account that the configuration names.
  ///   - hint: who the command line says is expected.
  ///   - people: those who are signed in.
  init(named: String?, hint: String?, prompt: Prompt?, people: [CachedAccount]) {
    self.prompt = prompt
    if let named {
      account = named
      let known = people.first { $0.isCalled(named) }
      // An id says nothing to a provider's page.
      self.hint = hint ?? known.flatMap(Self.hint) ?? (named.contains("@") ? named : nil)
    } else if hint == nil, prompt != .selectAccount, people.count == 1 {
      account = people[0].homeAccountID
      self.hint = Self.hint(people[0])
    } else {
      // Somebody else is wanted, or it is open who.
      self.hint = hint
      if hint == nil, prompt == nil, !people.isEmpty { self.prompt = .selectAccount }
    }
  }

  private static func hint(_ account: CachedAccount) -> String? {
    account.username.isEmpty ? nil : account.username
  }
}
