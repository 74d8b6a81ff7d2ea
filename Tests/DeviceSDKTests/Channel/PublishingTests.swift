import RepriseCore
import Testing

@testable import DeviceSDK

/// When a message is published.
@Suite struct ChannelPublishingTests {
  /// At QoS 0 nobody acknowledges it; the client says when it is written.
  @Test(arguments: [QoS.atMostOnce, .atLeastOnce])
  func isDoneWhenTheClientSaysSo(_ quality: QoS) throws {
    var bench = try ChannelBench.connected { $0.publishQoS = quality }
    bench.call("p", .publishBytes(try ChannelTopic("/a"), [1]))
    guard case .publish(let message)? = bench.open.last?.kind else {
      Issue.record("nothing was published")
      return
    }
    #expect(message.qos == quality)
    #expect(bench.take().count == 1)
    bench.acknowledge()
    #expect(bench.take() == ["p ok"])
  }
}
