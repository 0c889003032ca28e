// The fields that a route adds and removes: a credential in place of a token, and `request_headers`.

import Bytes
import Routing

extension SettingsDecoder {
  // MARK: A credential in place of a token

  /// `nil` only together with an issue.
  mutating func fixedCredential(_ section: Section) -> FixedCredential? {
    if section.members[.header] == nil { return self.section(section, .basic).flatMap { basic($0) } }
    let header = scalar(section, .header)
    let value = secret(section, .value, file: .valueFile)
    if section.members[.valueFile] == nil { reportMissing(.value, in: section) }
    guard let header, let name = fieldName(header), let value else { return nil }
    guard name.carriesCredential else {
      return refuse(
        header,
        "'\(header.written)' has another meaning already; an API's key is in Authorization or in a "
          + "field of its own, such as X-API-Key")
    }
    guard isValue(value) else {
      return refuse(
        (section[.value] ?? section[.valueFile])?.place ?? section.place,
        "\(section.path): the value of '\(name.text)' is \(FixedCredential.shortest) to \(FixedCredential.longest) "
          + "ASCII characters without a blank at an end")
    }
    return FixedCredential(name, value)
  }

  private mutating func basic(_ section: Section) -> FixedCredential? {
    let user = scalar(section, .username)
    let password = secret(section, .password, file: .passwordFile)
    guard let user, let password else { return nil }
    guard let credential = FixedCredential(user: user.text, password: password), isValue(credential.value) else {
      return refuse(
        user.place,
        "\(section.path): Basic credentials are a user name without ':' and a password, both without control "
          + "characters, together at most 3000 bytes (RFC 7617)")
    }
    return credential
  }

  private func isValue(_ value: Secret) -> Bool {
    (FixedCredential.shortest...FixedCredential.longest).contains(value.count)
      && RequestFields.isValue(value.bytes.indices.map { value.bytes[$0] })
  }

  private mutating func fieldName(_ scalar: Scalar) -> RouteFieldName? {
    if let name = RouteFieldName(scalar.text) { return name }
    return refuse(scalar, "'\(scalar.written)' is not a field name")
  }

  // MARK: request_headers

  /// The fields that a route sets and removes; nil if there are none, or only together with an issue.
  mutating func requestFields(_ route: Section, beside token: RouteToken?) -> RequestFields? {
    guard let section = section(route, .requestHeaders) else { return nil }
    let set = values(section, .set).sorted { $0.key < $1.key }
    let removed = list(section, .remove) ?? []
    for (_, value) in set where !value.variables.isEmpty { given[value.key]?.value = ConfiguredValue.hidden }
    let setNames = set.compactMap { name, value in
      requestField(name, value.place, section.path(.set), token).map { (name: $0, value: value.text) }
    }
    let removedNames = removed.compactMap { requestField($0.text, $0.place, $0.key, token) }
    guard setNames.count == set.count, removedNames.count == removed.count else { return nil }
    do throws(UnusableText) {
      return try RequestFields(set: setNames, removed: removedNames)
    } catch {
      return refuse(section, error.reason)
    }
  }

  private mutating func requestField(
    _ text: String, _ place: Place, _ key: String, _ token: RouteToken?
  ) -> RouteFieldName? {
    guard let name = RouteFieldName(text) else { return refuse(place, "\(key): '\(text)' is not a field name") }
    if name.isReserved {
      return refuse(
        place,
        "\(key): '\(text)' is not for a route to set or remove: framing, identity, path or the proxy itself depend "
          + "on it")
    }
    if token?.fixed?.name.isAlike(name) == true {
      return refuse(place, "\(key): '\(text)' is the field of the route's 'token'")
    }
    return name
  }
}
