// Signing in a device that has no browser: its polls, and the page for its code.

import Bytes
import HTTPServer
import Testing
import Tokens

@testable import DemoProvider

@Suite("Device sign-in") struct DeviceSignInTests {
  typealias Sample = DemoFixture.Sample

  private func begin(_ person: PersonAtBrowser) throws -> (code: String, userCode: String) {
    let form = PersonAtBrowser.encoded([
      "client_id": Sample.desk, "scope": "openid offline_access api://orders/Orders.Read",
    ])
    let answer = person.provider.answer(
      DemoRequest(method: "POST", path: "/\(Sample.tenant)/oauth2/v2.0/devicecode", body: .whole(Array(form.utf8))),
      now: person.now)
    let document = try DemoFixture.json(answer)
    #expect(document["interval"]?.seconds == 5)
    #expect(document["expires_in"]?.seconds == 900)
    #expect(document["verification_uri"]?.text == "https://localhost:8443/device")
    let userCode = try #require(document["user_code"]?.text)
    #expect(document["message"]?.text?.contains(userCode) == true)
    return (try #require(document["device_code"]?.text), userCode)
  }

  private func poll(_ person: PersonAtBrowser, _ code: String) throws -> String {
    let (answer, document) = try person.token([
      "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": code, "code": code,
    ])
    return answer.status == 200 ? "tokens" : document["error"]?.text ?? ""
  }

  /// Types the code and signs in: the page that asks for consent.
  private func consent(_ person: PersonAtBrowser, _ userCode: String) throws -> DemoAnswer {
    var page = person.send("POST", "/device", form: ["user_code": userCode])
    if page.heading == "Choose an account" { page = try person.press("another", on: page) }
    #expect(page.heading == "Sign in", "\(page.text)")
    return try person.signIn(on: page)
  }

  @Test func `pending, then tokens, then nothing more`() throws {
    let person = try PersonAtBrowser()
    let (code, userCode) = try begin(person)
    #expect(try poll(person, code) == "authorization_pending")
    let page = try consent(person, " \(userCode.lowercased().replacing("-", with: "")) ")
    #expect(page.text.contains(userCode), "what is about to be signed in is named")
    #expect(try person.press("accept", on: page).heading == "You are signed in")
    person.now = person.now + 5
    #expect(try poll(person, code) == "tokens")
    person.now = person.now + 5
    #expect(try poll(person, code) == "bad_verification_code")
  }

  @Test func `a device is confirmed by hand even if everything was consented to before`() throws {
    let person = try PersonAtBrowser()
    _ = try person.code()
    let (_, userCode) = try begin(person)
    let choice = person.send("POST", "/device", form: ["user_code": userCode])
    #expect(choice.heading == "Choose an account")
    let page = try person.press(
      "account", on: choice, ["account": try #require(choice.between("name=\"account\" value=\"", "\""))])
    #expect(page.heading == "Orders desk asks for your permission")
  }

  @Test func `polling within the interval is told to slow down`() throws {
    let person = try PersonAtBrowser()
    let (code, _) = try begin(person)
    #expect(try poll(person, code) == "authorization_pending")
    person.now = person.now + 4
    #expect(try poll(person, code) == "slow_down")
    person.now = person.now + 5
    #expect(try poll(person, code) == "authorization_pending")
  }

  @Test func `a declined or unused device code is reported to the device`() throws {
    let person = try PersonAtBrowser()
    let declined = try begin(person)
    #expect(try person.press("decline", on: consent(person, declined.userCode)).heading == "Sign-in cancelled")
    #expect(try poll(person, declined.code) == "authorization_declined")
    let late = try begin(person)
    let page = try consent(person, late.userCode)
    person.now = person.now + 900
    #expect(try poll(person, late.code) == "expired_token")
    #expect(try person.press("accept", on: page).heading == "That did not work")
  }

  @Test(arguments: ["", "AAAA-AAAA", "<script>"]) func `a code that no device shows is refused`(typed: String) throws {
    let person = try PersonAtBrowser()
    let page = person.send("POST", "/device", form: ["user_code": typed])
    #expect(page.heading == "Sign in a device")
    #expect(page.text.contains("role=\"alert\""))
    #expect(!page.text.contains("<script"))
  }

  @Test func `a link may bring the code, which is then shown and not yet taken`() throws {
    let person = try PersonAtBrowser()
    let (_, userCode) = try begin(person)
    let page = person.send("GET", "/device", query: "user_code=\(userCode)")
    #expect(page.heading == "Sign in a device")
    #expect(page.text.contains("value=\"\(userCode)\""))
  }
}
