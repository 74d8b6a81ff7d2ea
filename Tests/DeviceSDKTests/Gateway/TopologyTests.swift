import RepriseCore
import Testing

@testable import DeviceSDK

/// What the cloud knows of sub-devices, and what the gateway makes of it.
@Suite struct TopologyTests {
  private let sub = GatewayBench.sub

  /// SDK-gateway-52.
  @Test func bringsLinesUpToTheTopology() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.setUp(2)
    _ = bench.take()
    bench.call("topology", .topology)
    bench.reply(data: [GatewayBench.other.json, ["productKey": "1"], 7])
    #expect(
      bench.take().dropFirst() == [
        "{other} topology", "{sub} ready 4302/6401", #"topology ok ["{other}"]"#,
      ])
  }

  /// SDK-gateway-52.
  @Test func doesNotBelieveATopologyThatIsOlderThanALine() throws {
    var bench = try GatewayBench.line()
    bench.call("topology", .topology)
    bench.operate("add", .addTopology)
    let asked = bench.requests[0]
    let added = bench.requests[1]
    _ = bench.take()
    bench.message(added.topic + "_reply", ["id": .string(added.id), "code": 200])
    bench.message(asked.topic + "_reply", ["id": .string(asked.id), "code": 200, "data": []])
    #expect(bench.take() == ["{sub} topology", "add ok", "topology ok []"])
  }

  /// SDK-gateway-52.
  @Test func asksForTheTopologyAfterANewConnection() throws {
    var bench = try GatewayBench.line(in: .topology) { $0.syncsTopology = true }
    bench.close()
    bench.wait(1)
    bench.accept()
    #expect(bench.requests.map(\.topic) == ["/sys/a1gw/phone/thing/topo/get"])
    _ = bench.take()
    bench.reply(data: [])
    #expect(bench.take() == ["{sub} ready 4302/6401"])
  }

  @Test func leavesWhoIsOnlineOnlineWhateverTheTopology() throws {
    var bench = try GatewayBench.line(in: .online)
    bench.call("topology", .topology)
    bench.reply(data: [])
    #expect(bench.machine.lineState(of: sub) == .online, "the session is the newer word")
  }

  // MARK: Registrations

  /// SDK-gateway-17.
  @Test func registersInAsManyRequestsAsItTakes() throws {
    var bench = try GatewayBench.connected { $0.limits.registrationsPerRequest = 2 }
    bench.call(
      "r",
      .register([
        .init(productKey: "1", deviceName: "a"), .init(productKey: "1"),
        .init(productKey: "2", deviceName: "c"),
      ]))
    #expect(
      bench.take() == [
        ##"PUBLISH1 /sys/{gw}/thing/sub/register {"id":"#1","version":"1.0","##
          + #""method":"thing.sub.register","params":[{"productKey":"1","deviceName":"a"},"#
          + #"{"productKey":"1"}]}"#,
        ##"PUBLISH1 /sys/{gw}/thing/sub/register {"id":"#2","version":"1.0","##
          + #""method":"thing.sub.register","params":[{"productKey":"2","deviceName":"c"}]}"#,
      ])
    bench.reply(data: [["deviceName": "a"], ["deviceName": "b"]])
    #expect(bench.take() == [])
    bench.reply(data: [["deviceName": "c"]])
    #expect(bench.take() == [#"r ok ["a", "b", "c"]"#])
    bench.call("none", .register([]))
    bench.call("gone", .unregister([sub]))
    bench.reply(code: 6288)
    #expect(
      bench.take().filter { !$0.hasPrefix("PUBLISH") } == ["none ok []", "gone error 4103/6288"])
  }
}
