import Bytes
import Testing
import Tokens

@Suite struct AcquisitionPlanTests {
  private static let now = UnixTime(1_700_000_000)
  private static let held = TokenLifetime(obtainedAt: now, refreshAt: now + 3300, expiresAt: now + 3600)

  private static func paused(until: Int64) -> Throttle {
    var throttle = Throttle()
    throttle.failed(.transient, retryAfter: 60, now: now + (until - 60), jitter: 0)
    return throttle
  }

  /// The grant, in a form that a row can compare.
  enum Offer: Sendable {
    case credential, refreshTokens, unknown
    case nothing(InteractionReason)

    func grant() throws -> AvailableGrant {
      switch self {
      case .credential: return .clientCredentials
      case .nothing(let reason): return .nothing(reason)
      case .unknown: return .unknown
      case .refreshTokens:
        var document = CacheDocument()
        document.add(try CacheFixture.issued("AT", scopes: "A", refreshToken: "RT"), now: now)
        return .refreshTokens(document.refreshTokens(CacheFixture.query()))
      }
    }
  }

  typealias Row = (held: TokenLifetime?, offer: Offer, pausedUntil: Int64?, at: Int64, expected: AcquisitionPlan)

  /// Every row of the table, second by second around the end of a row; the same for both offers.
  static let renewable: [Row] = [Offer.credential, .refreshTokens].flatMap { offer in
    [
      (nil, offer, nil, 0, .request),
      (nil, offer, 30, 0, .fail(until: now + 30)),
      (nil, offer, 30, 29, .fail(until: now + 30)),
      (nil, offer, 30, 30, .request),
      (held, offer, nil, 0, .useCached),
      (held, offer, nil, 3299, .useCached),
      (held, offer, nil, 3300, .useCachedAndRefreshBehind),
      (held, offer, nil, 3301, .useCachedAndRefreshBehind),
      (held, offer, nil, 3599, .useCachedAndRefreshBehind),
      (held, offer, nil, 3600, .request),
      (held, offer, 3350, 3299, .useCached),
      (held, offer, 3350, 3349, .useCached),
      (held, offer, 3350, 3350, .useCachedAndRefreshBehind),
      (held, offer, 3620, 3599, .useCached),
      (held, offer, 3620, 3600, .fail(until: now + 3620)),
      (held, offer, 3620, 3619, .fail(until: now + 3620)),
      (held, offer, 3620, 3620, .request),
      (held, offer, nil, -1, .request),
    ] as [Row]
  }

  static let withoutOffer: [Row] =
    [
      (held, .nothing(.noTokens), nil, 0, .useCached),
      (held, .nothing(.noTokens), nil, 3300, .useCached),
      (held, .nothing(.noTokens), nil, 3599, .useCached),
      (held, .nothing(.noTokens), nil, 3600, .interactionRequired(.noTokens)),
      (held, .nothing(.noTokens), 3700, 3600, .interactionRequired(.noTokens)),
      (nil, .nothing(.noTokens), nil, 0, .interactionRequired(.noTokens)),
    ]
    + [.noAccount, .accountAmbiguous].flatMap { (reason: InteractionReason) in
      [
        (nil, .nothing(reason), nil, 0, .interactionRequired(reason)),
        (nil, .nothing(reason), 30, 0, .interactionRequired(reason)),
        (held, .nothing(reason), nil, 0, .interactionRequired(reason)),
        (held, .nothing(reason), nil, 3599, .interactionRequired(reason)),
      ] as [Row]
    }

  static let unknown: [Row] = [
    (nil, .unknown, nil, 0, .cacheUnavailable), (nil, .unknown, 30, 0, .cacheUnavailable),
    (held, .unknown, nil, 3300, .useCached), (held, .unknown, nil, 3599, .useCached),
    (held, .unknown, nil, 3600, .cacheUnavailable),
  ]

  @Test(arguments: renewable + withoutOffer + unknown)
  func `the plan follows from held tokens, offers, failures and the time`(row: Row) throws {
    let throttle = row.pausedUntil.map(Self.paused) ?? Throttle()
    let plan = AcquisitionPlan(held: row.held, grant: try row.offer.grant(), throttle: throttle, now: Self.now + row.at)
    #expect(plan == row.expected)
  }
}
