// Sign-ins on behalf of a device that has no browser (RFC 8628).

internal import Bytes
internal import Tokens

struct DeviceAuthorizations {
  /// A device that asked for a code.
  struct Device {
    /// The progress of its sign-in.
    enum Outcome {
      case pending
      case approved(Authorization)
      case declined
    }

    var userCode: String
    var client: String
    var segment: String
    var scopes: [String]
    var expiresAt: UnixTime
    var lastPoll: UnixTime?
    var outcome = Outcome.pending
  }

  private var devices: [String: Device] = [:]

  /// A new device code. The device shows `device.userCode`.
  mutating func begin(_ device: Device, now: UnixTime) throws(ProviderError) -> String {
    // Kept for a while after they expired, so that a late device learns why.
    devices = devices.filter { now < $0.value.expiresAt + 900 }
    let code = try OpaqueText.make()
    devices[code] = device
    return code
  }

  /// The device that shows a user code, which people type with or without its dash and in any letter case.
  func waiting(userCode typed: String, now: UnixTime) -> Device? {
    let letters = Self.letters(typed)
    return devices.values.first { device in
      guard case .pending = device.outcome else { return false }
      return now < device.expiresAt && Self.letters(device.userCode) == letters
    }
  }

  /// Ends a sign-in. Whether the device still waited.
  mutating func end(userCode: String, _ outcome: Device.Outcome, now: UnixTime) -> Bool {
    guard waiting(userCode: userCode, now: now) != nil,
      let code = devices.first(where: { $0.value.userCode == userCode })?.key
    else { return false }
    devices[code]?.outcome = outcome
    return true
  }

  /// The result of a device's poll: the authorisation, or the reason to ask again later or never (RFC 8628 §3.5).
  mutating func poll(_ code: String, client: String, interval: Int64, now: UnixTime) throws(ProviderError)
    -> Authorization
  {
    guard let device = devices[code], device.client == client else { throw .unknownDeviceCode }
    guard now < device.expiresAt else { throw .deviceCodeExpired }
    let isHasty = device.lastPoll.map { now - $0 < interval } ?? false
    devices[code]?.lastPoll = now
    switch device.outcome {
    case .declined: throw .deviceDeclined
    case .pending: throw isHasty ? .slowDown : .authorizationPending
    case .approved(let authorization):
      if isHasty { throw .slowDown }
      devices[code] = nil
      return authorization
    }
  }

  private static func letters(_ code: String) -> String {
    code.uppercased().filter { $0.isASCII && $0.isLetter }
  }
}
