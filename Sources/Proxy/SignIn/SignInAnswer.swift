/// An answer of the sign-in pages.
struct SignInAnswer: Sendable {
  var status: Int
  /// Names as they are sent; framing fields are the connection's.
  var fields: [(name: StaticString, value: String)] = []
  var body: [UInt8] = []

  /// Sends the browser on by GET.
  static func seeOther(_ location: String) -> SignInAnswer {
    SignInAnswer(
      status: 303,
      fields: [("Location", location), ("Cache-Control", "no-store"), ("Referrer-Policy", "no-referrer")])
  }
}
