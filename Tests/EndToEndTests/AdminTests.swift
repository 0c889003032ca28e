// The operators' views: health, readiness, metrics as Prometheus reads them, and the record of each request.

import Bytes
import FoundationEssentials
import Testing
import TestSupport

@Suite(.keepsSecrets, .timeLimit(.minutes(5)))
struct AdminTests {
  @Test func `an admin listener for all callers has its status for the names of this machine only`() async throws {
    let directory = try TemporaryDirectory()
    let (port, admin) = (try freePort(), try freePort())
    let file = try directory.write(
      """
      admin: {address: "127.0.0.1:\(admin)", callers: {anyone: true}}
      listeners: [{address: "127.0.0.1:\(port)"}]
      routes: [{name: open, path: /, upstream: "http://127.0.0.1:1/", token: none}]
      """, to: "anyone.yaml")
    let proxy = try ChildProcess("bearer-proxy", [binary(), "run", "-c", file], in: directory)
    try await waitForPort(admin, of: proxy)
    let address = "http://127.0.0.1:\(admin)"
    #expect(try await curl([address + "/status"]).status == 200)
    // A page's own name that leads to this machine: the kernel's answer about the peer is no user of a unix socket.
    #expect(try await curl(["-H", "Host: evil.example", address + "/status"]).status == 403)
    #expect(try await curl(["-H", "Host: evil.example", address + "/healthz"]).status == 200)
    try await proxy.stop()
  }

  @Test func `the admin listener answers reads of what it has, to callers of its own address`() async throws {
    let scene = try await ScriptedScene()
    let origin = "http://127.0.0.1:\(scene.proxy.adminPort)"
    #expect(try await scene.proxy.admin("/healthz").status == 200)
    #expect(try await scene.proxy.admin("/readyz").body == "ready\n")
    let verbose = try await scene.proxy.admin("/readyz?verbose")
    #expect(verbose.status == 200 && verbose.body == "ready\nready_when: tokens\n[+] route all: ready, adds no token\n")
    #expect(try await scene.proxy.admin("/metrics")["content-type"]?.hasPrefix("text/plain; version=0.0.4") == true)
    #expect(try await scene.proxy.admin("/orders").status == 404)
    #expect(try await curl(["-X", "POST", origin + "/healthz"]).status == 405)
    #expect(try await curl(["-I", origin + "/healthz"]).status == 200)
    let localhost = try await curl(["-H", "Host: localhost:\(scene.proxy.adminPort)", origin + "/healthz"])
    #expect(localhost.status == 200)
    for marked in ["Host: evil.example", "Sec-Fetch-Site: cross-site", "Origin: https://evil.example"] {
      let refused = try await curl(["-H", marked, origin + "/metrics"])
      #expect([403, 421].contains(refused.status) && !refused.body.contains("bearer_proxy"))
    }
    // The paths are the admin listener's alone: a caller's /metrics goes to the upstream.
    #expect(try await scene.proxy.get("/metrics").body.contains("bearer_proxy_build_info") == false)
    #expect(scene.upstream.requests.count == 1)
  }

  @Test func `the metrics are what Prometheus' own parser reads, and every counter moves with what it counts`()
    async throws
  {
    let scene = try await ProviderScene()
    let before = try await metrics(of: scene.proxy)
    for _ in 1...3 { #expect(try await scene.proxy.get("/orders/seen").status == 200) }
    _ = try await scene.proxy.get("/open/hang-up")
    _ = try await scene.proxy.get("/nowhere")
    let after = try await metrics(of: scene.proxy)
    func moved(_ sample: String) -> Double { (after[sample] ?? -1) - (before[sample] ?? 0) }
    #expect(moved("bearer_proxy_requests_total{route=orders,status_class=2xx}") == 3)
    #expect(moved("bearer_proxy_requests_total{route=open,status_class=5xx}") == 1)
    #expect(moved("bearer_proxy_requests_total{route=(none),status_class=4xx}") == 1)
    #expect(moved("bearer_proxy_request_tokens_total{route=orders,source=cache}") == 3)
    #expect(moved("bearer_proxy_request_duration_seconds_count{route=orders,status_class=2xx}") == 3)
    #expect(moved("bearer_proxy_request_duration_seconds_bucket{le=+Inf,route=orders,status_class=2xx}") == 3)
    #expect(moved("bearer_proxy_request_duration_seconds_sum{route=orders,status_class=2xx}") > 0)
    #expect(moved("bearer_proxy_connections_accepted_total{}") == 5)
    #expect(moved("bearer_proxy_upstream_connections_total{kind=new,route=open}") == 1)
    let orders = ["new", "reused"].map { moved("bearer_proxy_upstream_connections_total{kind=\($0),route=orders}") }
    #expect(orders[0] >= 1 && orders[0] + orders[1] == 3)
    let obtained = "application=contoso,grant=client_credentials,result=obtained"
    #expect(after["bearer_proxy_token_requests_total{\(obtained)}"] == 1)
    #expect(after["bearer_proxy_token_request_duration_seconds_count{}"] == 1)
    #expect(after.keys.contains { $0.hasPrefix("bearer_proxy_build_info{commit=,version=") })
    // Values that are looked up at the scrape.
    #expect(after["bearer_proxy_route_state{route=orders,state=ready}"] == 1)
    #expect(after["bearer_proxy_route_state{route=open,state=upstream_failing}"] == 1)
    #expect(after["bearer_proxy_route_state{route=open,state=ready}"] == 0)
    #expect((after["bearer_proxy_token_expiry_seconds{route=orders}"] ?? 0) > 0)
    #expect(after["bearer_proxy_token_expiry_seconds{route=open}"] == nil)
    #expect(moved("bearer_proxy_loop_delay_seconds_count{}") > 0)
    #expect((after["process_resident_memory_bytes{}"] ?? 0) > 1_000_000 && (after["process_open_fds{}"] ?? 0) > 3)
    #expect((after["process_cpu_seconds_total{}"] ?? 0) > 0)
    // A pair that never occurred has no histogram.
    #expect(after["bearer_proxy_request_duration_seconds_count{route=orders,status_class=5xx}"] == nil)
    let connection = try scene.proxy.connect()
    #expect(try await eventually { try await metrics(of: scene.proxy)["bearer_proxy_connections_open{}"] == 1 })
    connection.finishSending()
    #expect(try await eventually { try await metrics(of: scene.proxy)["bearer_proxy_connections_open{}"] == 0 })
  }

  @Test func `a served, a refused and a failed request each leave the record that tells them apart`() async throws {
    let scene = try await ProviderScene()
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    let fields = ["-H", "X-Request-ID: served-1", "-H", "traceparent: 00-\(trace)-00f067aa0ba902b7-01"]
    let served = try await scene.proxy.get("/orders/sink?hidden=1", fields + ["-d", "hello"])
    let refused = try await scene.proxy.get("/nowhere?hidden=1")
    let failed = try await scene.proxy.get("/open/hang-up?hidden=1")
    #expect(try await eventually { scene.proxy.accessRecords.count == 3 })
    let records = scene.proxy.accessRecords
    let expected: [[String: JSONValue]] = [
      [
        "route": .string("orders"), "method": .string("POST"), "path": .string("/orders/sink"), "status": .integer(200),
        "bytes_in": .integer(5), "bytes_out": .integer(Int64(served.body.utf8.count)), "token_source": .string("cache"),
        "outcome": .string("completed"), "request_id": .string("served-1"), "trace_id": .string(trace),
      ],
      [
        "method": .string("GET"), "path": .string("/nowhere"), "status": .integer(404), "bytes_in": .integer(0),
        "bytes_out": .integer(Int64(refused.body.utf8.count)), "token_source": .string("none"),
        "outcome": .string("answered_by_proxy"), "problem": .string("no-route"),
      ],
      [
        "route": .string("open"), "path": .string("/open/hang-up"), "status": .integer(502),
        "bytes_out": .integer(Int64(failed.body.utf8.count)), "token_source": .string("none"),
        "outcome": .string("upstream_failed"), "problem": .string("upstream-closed"),
      ],
    ]
    #expect(records[0]["problem"] == nil && records.allSatisfy { $0["challenge"] == nil })
    for (record, row) in zip(records, expected) {
      for (name, value) in row { #expect(record[name] == value, "\(name)") }
      #expect(record["level"] == .string("info") && record["message"] == .string("request"))
      guard case .string(let caller) = record["caller"], case .string(let time) = record["time"],
        let total = record["total_ms"]?.seconds
      else {
        Issue.record("\(record)")
        continue
      }
      #expect(caller.hasPrefix("127.0.0.1") && time.hasSuffix("Z") && total >= 0)
      if let upstream = record["upstream_ms"]?.seconds { #expect(upstream <= total) }
    }
    #expect(records[1]["route"] == nil && records[1]["upstream_ms"] == nil)
    // A token that was there already took no time.
    #expect(records[0]["token_ms"] == nil && records[0]["upstream_ms"] != nil)
    // The same id in the record, in the answer's document and in the field that the caller gets.
    guard case .string(let id) = records[2]["request_id"] else { return }
    #expect(failed.body.contains(#""request_id":"\#(id)""#))
    #expect(!scene.proxy.everythingWritten.contains("hidden"))
  }

  @Test func `the record can be left out, and be for people`() async throws {
    let silent = try await ScriptedScene(top: "log: {access: false}")
    #expect(try await silent.proxy.get("/seen").status == 200)
    try await silent.proxy.process.stop()
    #expect(silent.proxy.process.output == "")
    let readable = try await ScriptedScene(top: "log: {format: text}")
    #expect(try await readable.proxy.get("/seen").status == 200)
    try await readable.proxy.process.stop()
    #expect(readable.proxy.process.output.contains(" info request route=all method=GET"))
    #expect(readable.proxy.process.errors.contains(" info serving address="))
  }

  /// The samples by `name{label=value,…}`, labels sorted, as the parser of Prometheus' Python client reads them.
  private func metrics(of proxy: ProxyUnderTest) async throws -> [String: Double] {
    let text = try await succeed([
      pinnedPython(), "-c",
      """
      import json, sys, urllib.request
      from prometheus_client.parser import text_string_to_metric_families
      with urllib.request.urlopen(sys.argv[1]) as answer:
          families = list(text_string_to_metric_families(answer.read().decode()))
      assert all(f.type in ("counter", "gauge", "histogram") and f.documentation for f in families)
      samples = [s for f in families for s in f.samples]
      names = [s.name + "{" + ",".join(f"{k}={v}" for k, v in sorted(s.labels.items())) + "}" for s in samples]
      assert len(set(names)) == len(names)
      print(json.dumps(dict(zip(names, (s.value for s in samples)))))
      """, "http://127.0.0.1:\(proxy.adminPort)/metrics",
    ])
    return try JSONDecoder().decode([String: Double].self, from: Data(text.utf8))
  }
}
