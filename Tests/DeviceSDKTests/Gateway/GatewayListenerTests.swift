import CloudSimulator
import RepriseCore
import Synchronization
import Testing

@testable import DeviceSDK

/// Handlers and weak listeners, as older applications use the gateway.
@Suite struct GatewayListenerTests {
  private final class Listener: GatewayConnectListener, GatewayDownstreamListener,
    GatewayLineDownstreamListener
  {
    let heard: Mutex<[String]> = Mutex([])
    let refuses: Bool

    init(refuses: Bool = false) { self.refuses = refuses }

    var lines: [String] { heard.withLock { $0 } }

    func onConnectState(_ change: GatewayStateChange) {
      heard.withLock { $0.append("\(change.state)") }
    }
    func onDownstream(topic: String, message: GatewayMessage) {
      heard.withLock { $0.append(GatewayText.shorten(topic)) }
    }
    func shouldHandle(topic: String) -> Bool { !refuses }
  }

  /// Waits for a handler's result.
  private func result<Value: Sendable>(
    _ call: (@escaping @Sendable (Value) -> Void) -> Void
  ) async -> Value {
    await withCheckedContinuation { done in call { done.resume(returning: $0) } }
  }

  @Test func worksWithHandlers() async throws {
    try await GatewayWorld.run { gateway, world in
      let device = try TestSubdevice()
      let line: GatewayLine = try #require(
        await result { done in
          gateway.setupGatewayLine(device) { line, error in
            #expect(error == nil)
            done(line)
          }
        })
      #expect(line.subDeviceProductKey() == "123" && line.subDeviceDeviceName() == "test")
      #expect(gateway.getProductKey() == "a1gw" && gateway.getDeviceName() == "phone")
      for call in [line.addTopo, line.online] {
        let response = await result { call($0) }
        #expect(response.isSuccess && response.error == nil && response.reply?.code == 200)
      }
      let again = await result { line.online($0) }
      #expect(again.isSuccess && again.reply == nil, "nothing was asked for")
      #expect(line.isOnline)
      let topic = line.topic("thing/event/property/post")
      let post = await result {
        gateway.invokeWithTopic(topic, method: nil, params: ["a": 1], respHandler: $0)
      }
      #expect(post.isSuccess && post.reply?.data == [:])
      let wrong = await result {
        gateway.invokeWithTopic("", method: nil, params: [:], respHandler: $0)
      }
      #expect(!wrong.isSuccess && wrong.error?.kind == .client)
      let raw = line.topic("thing/model/up_raw")
      #expect(await result { line.uploadData(raw, data: [1], complete: $0) }.isSuccess)
      let twice = await result {
        line.uploadData(raw, data: [1], qos: .exactlyOnce, complete: $0)
      }
      #expect(twice.error?.kind == .client)
      #expect(await result { line.subscribe(raw, complete: $0) }.isSuccess)
      #expect(await result { line.unsubscribe(raw, complete: $0) }.isSuccess)
      #expect(await result { gateway.subscribe("/a/b", complete: $0) } == nil)
      #expect(await result { gateway.unsubscribe("/a/b", complete: $0) } == nil)
      #expect(await result { gateway.publish("/a/b", params: [:], complete: $0) } == nil)
      let registered: [RegisteredSubdevice]? = await result { done in
        gateway.dynamicRegisterSubDevices([.init(productKey: "123")]) { registered, _ in
          done(registered)
        }
      }
      #expect(registered?.first?.deviceName == "made-1")
      #expect(
        await result { gateway.dynamicUnregisterSubDevices([line.subdevice], complete: $0) } == nil)
      for call in [line.offline, line.deleteTopo] { #expect(await result { call($0) }.isSuccess) }
      let offline = await result { line.offline($0) }
      #expect(!offline.isSuccess && offline.error?.cloudCode == 520)
      #expect(line.state == .ready)
    }
  }

  /// SDK-gateway-18.
  @Test func tellsListenersAndLetsThemGo() async throws {
    try await GatewayWorld.run { gateway, world in
      let line = try await gateway.connect(TestSubdevice())
      let all = Listener()
      let own = Listener()
      let deaf = Listener(refuses: true)
      var gone: Listener? = Listener()
      weak let watched = gone
      gateway.addDownstreamListener(all)
      gateway.addDownstreamListener(deaf)
      line.addDownStreamListener(uiSafety: false, listener: own)
      line.addDownStreamListener(uiSafety: false, listener: deaf)
      if let gone { line.addDownStreamListener(uiSafety: false, listener: gone) }
      #expect(line.listenerCount == 3)
      gone = nil
      #expect(watched == nil && line.listenerCount == 2)
      let other = try await gateway.connect(TestSubdevice(GatewayBench.other))
      for device in [GatewayWorld.lamp, CloudDevice(productKey: "123", deviceName: "other")] {
        world.cloud.push(GatewayPush(.set(["a": 1]), of: device))
      }
      _ = try await gateway.topology()
      #expect(own.lines == ["/sys/{sub}/thing/service/property/set"])
      #expect(
        all.lines == [
          "/sys/{sub}/thing/service/property/set", "/sys/{other}/thing/service/property/set",
        ])
      #expect(deaf.lines == [])
      line.removeDownStreamListener(own)
      gateway.removeDownstreamListener(all)
      world.cloud.push(GatewayPush(.set(["a": 2]), of: GatewayWorld.lamp))
      _ = try await gateway.topology()
      #expect(own.lines.count == 1 && all.lines.count == 2)
      _ = other
    }
  }

  /// SDK-gateway-18, 19.
  @MainActor @Test func callsListenersOnTheMainActorIfTheyWish() async throws {
    final class MainListener: GatewayConnectListener, GatewayLineDownstreamListener {
      let heard: AsyncStream<String>.Continuation
      init(_ heard: AsyncStream<String>.Continuation) { self.heard = heard }
      func onConnectState(_ change: GatewayStateChange) {
        MainActor.assertIsolated()
        heard.yield("\(change.state)")
      }
      func onDownstream(topic: String, message: GatewayMessage) {
        MainActor.assertIsolated()
        heard.yield(topic)
      }
    }
    let (heard, continuation) = AsyncStream<String>.makeStream()
    let listener = MainListener(continuation)
    try await GatewayWorld.withWorld { world, client in
      try await withGateway(on: client, configuration: GatewayWorld.configuration()) { gateway in
        gateway.startConnect(listener: listener)
        try await gateway.start()
        let line = try await gateway.connect(TestSubdevice())
        line.addDownStreamListener(listener: listener)
        world.cloud.push(GatewayPush(.set([:]), of: GatewayWorld.lamp))
        var lines = heard.makeAsyncIterator()
        #expect(await lines.next() == "connecting")
        #expect(await lines.next() == "connected")
        #expect(await lines.next() == "/sys/123/test/thing/service/property/set")
        gateway.removeConnectListener(listener)
      }
    }
  }

  @Test func givesMessagesBySequence() async throws {
    try await GatewayWorld.run { gateway, world in
      let line = try await gateway.connect(TestSubdevice())
      let all = gateway.messages()
      let some = gateway.messages(matching: "/sys/+/+/thing/disable")
      let own = line.messages
      await #expect(throws: GatewayError.self) {
        for try await _ in gateway.messages(matching: "a#") {}
      }
      world.cloud.push(GatewayPush(.disable, of: GatewayWorld.lamp))
      world.cloud.push(GatewayPush(.set([:]), of: GatewayWorld.lamp))
      var messages = all.makeAsyncIterator()
      #expect(try await messages.next()?.topic == line.topic("thing/disable"))
      #expect(try await messages.next()?.topic == line.topic("thing/service/property/set"))
      var filtered = some.makeAsyncIterator()
      #expect(try await filtered.next()?.topic == line.topic("thing/disable"))
      var lines = own.makeAsyncIterator()
      #expect(await lines.next()?.subdevice == line.subdevice)
      #expect(gateway.droppedMessages == 0)
    }
  }

  /// SDK-gateway-65.
  @Test func logsNoSecret() async throws {
    let entries = Mutex<[String]>([])
    try await GatewayWorld.run(
      #"{"gateway":{"pushes":[{"disable":true,"subdevice":"123/test"}]}}"#,
      { configuration in
        configuration.log = DeviceLog(level: .debug) { entry in
          entries.withLock { $0.append("\(entry)") }
        }
      }
    ) { gateway, world in
      let line = try await gateway.connect(TestSubdevice())
      _ = try await gateway.register([.init(productKey: "123")])
      _ = try? await line.goOffline()
      world.broker.drop("app")
    }
    let text = entries.withLock { $0 }.joined(separator: "\n")
    #expect(text.contains("123/test is online"))
    for secret in ["secret", "292f1d18", "hmac"] { #expect(!text.contains(secret)) }
  }
}
