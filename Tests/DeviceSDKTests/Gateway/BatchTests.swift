import RepriseCore
import Testing

@testable import DeviceSDK

/// Operations on several lines at once.
@Suite struct BatchTests {
  private let sub = GatewayBench.sub
  private let other = GatewayBench.other

  private func withTwoLines(
    _ change: (inout GatewayConfiguration) -> Void = { _ in }
  ) throws -> GatewayBench {
    var bench = try GatewayBench.connected(change)
    bench.setUp(1)
    bench.setUp(2)
    _ = bench.take()
    return bench
  }

  /// SDK-gateway-42.
  @Test func asksForSeveralInOneRequest() throws {
    var bench = try withTwoLines()
    bench.operate("add", .addTopology, [sub, other, sub], isBatch: true)
    #expect(bench.requests.count == 1)
    bench.reply()
    bench.operate("login", .logIn, [sub, other], isBatch: true)
    let payload = bench.published.last.flatMap { JSONValue(parsing: $0.payload) }
    guard case .array(let logins)? = payload?["params"]?["deviceList"] else {
      Issue.record("there is no list")
      return
    }
    #expect(logins.map { $0["deviceName"] } == ["test", "other"])
    #expect(logins.allSatisfy { $0["signMethod"] == "sha256" && $0["cleanSession"] == "true" })
    bench.reply(code: "200", data: [])
    bench.operate("logout", .logOut, [sub, other], isBatch: true)
    #expect(bench.published.last?.topic == "/ext/session/a1gw/phone/combine/batch_logout")
    bench.reply()
    #expect(
      bench.take().filter { !$0.hasPrefix("PUBLISH") } == [
        "{sub} topology", "{other} topology", "add ok", "{sub} online", "{other} online",
        "login ok", "{sub} topology", "{other} topology", "logout ok",
      ])
  }

  /// SDK-gateway-42.
  @Test func keepsToTheLimitsOfARequest() throws {
    var bench = try withTwoLines { $0.limits.topologyPerRequest = 1 }
    bench.operate("add", .addTopology, [sub, other], isBatch: true)
    #expect(bench.requests.count == 2)
    _ = bench.take()
    bench.reply()
    #expect(bench.take() == ["{sub} topology"])
    bench.reply(code: 6400)
    #expect(bench.take() == ["add error 4103/6400"])
  }

  /// SDK-gateway-42.
  @Test func takesABatchAsAWhole() throws {
    var bench = try withTwoLines()
    bench.operate("add", .addTopology, [sub, other], isBatch: true)
    bench.reply()
    bench.operate("login", .logIn, [sub, other], isBatch: true)
    _ = bench.take()
    bench.reply(code: 6401)
    #expect(bench.take() == ["login error 4302/6401"], "nobody knows which one it is about")
    #expect(bench.machine.lineState(of: sub) == .topology)
  }

  @Test func waitsForItsTurnOnAllLines() throws {
    var bench = try withTwoLines()
    bench.operate("a", .addTopology, [other])
    bench.operate("b", .logIn, [sub, other], isBatch: true)
    bench.operate("c", .logOut, [sub])
    #expect(bench.requests.map(\.topic) == ["/sys/a1gw/phone/thing/topo/add"])
    bench.reply()
    #expect(bench.requests.map(\.topic) == ["/ext/session/a1gw/phone/combine/batch_login"])
    bench.reply()
    #expect(bench.requests.map(\.topic) == ["/ext/session/a1gw/phone/combine/logout"])
  }

  @Test func failsABatchWithASubdeviceThatIsNotThere() throws {
    var bench = try withTwoLines()
    bench.devices[ConnectionID(rawValue: 2)] = .failing
    bench.operate("add", .addTopology, [sub, other], isBatch: true)
    #expect(bench.take() == ["add error 4301"])
    bench.operate("x", .addTopology, [sub, Subdevice(known: "1", "2")], isBatch: true)
    bench.operate("none", .addTopology, [], isBatch: true)
    #expect(bench.take() == ["x error 4201", "none ok"])
  }

  /// SDK-gateway-53.
  @Test func keepsToTheNumberOfSubdevicesOnline() throws {
    var bench = try withTwoLines { $0.limits.online = 1 }
    bench.operate("add", .addTopology, [sub, other], isBatch: true)
    bench.reply()
    bench.operate("login", .logIn, [sub])
    bench.reply()
    _ = bench.take()
    bench.operate("login", .logIn, [other])
    #expect(bench.take() == ["login error 4201"])
  }
}
