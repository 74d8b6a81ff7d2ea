import RepriseCore
import Testing

@testable import DeviceSDK

/// A line's way from its set-up to being online and back.
@Suite struct LineTests {
  /// SDK-gateway-9, 35, 36, 41, 69.
  @Test func goesOnlineStepByStep() throws {
    var bench = try GatewayBench.connected()
    bench.setUp(1)
    #expect(bench.take() == ["{sub} ready", "line ok {sub}"])
    bench.operate("add", .addTopology)
    let sign = "292f1d18f6fddf8e7a8c04405b5176db278a49213ab60e4a90c08a32cb4a0d70"
    let name = #""productKey":"123","deviceName":"test""#
    #expect(
      bench.take() == [
        ##"PUBLISH1 /sys/{gw}/thing/topo/add {"id":"#1","version":"1.0","method":"thing.topo.add","##
          + #""params":[{\#(name),"clientId":"123","signmethod":"sha256","sign":"\#(sign)"}]}"#
      ])
    bench.reply(data: [:])
    #expect(bench.take() == ["{sub} topology", "add ok"])
    bench.operate("login", .logIn)
    #expect(
      bench.take() == [
        ##"PUBLISH0 /ext/session/{gw}/combine/login {"id":"#2","params":{\##(name),"##
          + #""clientId":"123","signMethod":"sha256","sign":"\#(sign)","cleanSession":"true"}}"#
      ])
    bench.reply(data: "")
    #expect(bench.take() == ["{sub} online", "login ok"])
    try bench.post("post")
    #expect(
      bench.take() == [
        ##"PUBLISH1 /sys/{sub}/thing/event/property/post {"id":"#3","version":"1.0","##
          + #""method":"thing.event.property.post","params":{"Power":1}}"#
      ])
    bench.reply(data: [:])
    #expect(bench.take() == ["post ok {}"])
    bench.operate("logout", .logOut)
    #expect(
      bench.take() == [
        ##"PUBLISH0 /ext/session/{gw}/combine/logout {"id":"#4","params":{\##(name)}}"##
      ])
    bench.reply()
    #expect(bench.take() == ["{sub} topology", "logout ok"])
    bench.operate("delete", .deleteTopology)
    #expect(
      bench.take() == [
        ##"PUBLISH1 /sys/{gw}/thing/topo/delete {"id":"#5","version":"1.0","##
          + #""method":"thing.topo.delete","params":[{\#(name)}]}"#
      ])
    bench.reply()
    #expect(bench.take() == ["{sub} ready", "delete ok"])
  }

  /// SDK-gateway-38, 39.
  @Test func subscribesBeforeItPublishes() throws {
    var bench = try GatewayBench.line(in: .topology)
    bench.isTerse = false
    bench.operate("login", .logIn)
    #expect(bench.take() == ["SUBSCRIBE /ext/session/{gw}/combine/login_reply"])
    bench.grant()
    #expect(bench.take().first?.hasPrefix("PUBLISH0 /ext/session/{gw}/combine/login ") == true)
    bench.reply()
    let thing = "/sys/{sub}/thing/"
    #expect(
      bench.take() == [
        "SUBSCRIBE \(thing)service/# \(thing)model/down_raw \(thing)disable \(thing)enable "
          + "\(thing)delete"
      ])
    bench.grant([.atLeastOnce, nil, .atLeastOnce, .atLeastOnce, .atLeastOnce])
    #expect(bench.take() == ["{sub} online", "login ok"])
  }
}
