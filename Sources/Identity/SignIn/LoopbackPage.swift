// Owns what a browser is shown when it brings an answer. The pages are fixed texts: nothing of the request is ever in them.

internal import HTTP

/// A page of the loopback listener.
enum LoopbackPage {
  /// A code has come.
  case received
  /// Something came that is no code.
  case failed
  /// The request is for another host.
  case foreign
  /// Nothing stands at this address.
  case nothingHere
  /// Neither GET nor POST.
  case method
  /// A form that no provider sends.
  case tooLarge

  private var status: Int {
    switch self {
    case .received: 200
    case .failed: 400
    case .foreign: 421
    case .nothingHere: 404
    case .method: 405
    case .tooLarge: 413
    }
  }

  private var words: (title: StaticString, text: StaticString) {
    switch self {
    case .received: ("Back to the terminal", "The identity provider has answered. You can close this window.")
    case .failed: ("Not signed in", "The sign-in did not succeed. The terminal says why. You can close this window.")
    case .foreign, .nothingHere, .method, .tooLarge: ("Nothing here", "This address waits for a sign-in's answer.")
    }
  }

  /// Head and body. The policy lets the page load and do nothing at all.
  func rendered() -> ByteBuffer {
    var body = ByteBuffer(capacity: 512)
    body.append("<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n")
    body.append("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n")
    body.append("<meta name=\"color-scheme\" content=\"light dark\">\n<title>")
    body.append(words.title)
    body.append("</title>\n<main>\n<h1>")
    body.append(words.title)
    body.append("</h1>\n<p>")
    body.append(words.text)
    body.append("</p>\n</main>\n")
    var page = ByteBuffer(capacity: 1024)
    HeadWriter.statusLine(status, into: &page)
    HeadWriter.field("Content-Type", "text/html; charset=utf-8", into: &page)
    HeadWriter.field("Content-Length", decimal: UInt64(body.count), into: &page)
    HeadWriter.field(
      "Content-Security-Policy",
      "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox", into: &page)
    HeadWriter.field("Cache-Control", "no-store", into: &page)
    HeadWriter.field("Referrer-Policy", "no-referrer", into: &page)
    HeadWriter.field("X-Content-Type-Options", "nosniff", into: &page)
    HeadWriter.field("Connection", "close", into: &page)
    HeadWriter.end(into: &page)
    page.append(body.bytes)
    return page
  }
}
