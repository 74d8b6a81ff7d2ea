import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

@Suite struct MobileChannelTests {
  /// Hears everything, and writes it down.
  private final class Ear: MobileConnectListener, MobileRequestListener, MobileSubscrbieListener,
    MobileDownstreamListener
  {
    let heard = Mutex<[String]>([])
    let wanted: String?
    let isOnMain: Bool

    init(wanted: String? = nil, isOnMain: Bool = false) {
      self.wanted = wanted
      self.isOnMain = isOnMain
    }

    var lines: [String] { heard.withLock { $0 } }

    private func add(_ line: String) {
      if isOnMain { MainActor.preconditionIsolated() }
      heard.withLock { $0.append(line) }
    }

    func onConnectStateChange(_ state: MobileConnectState) { add(state.rawValue) }
    // Requests and subscriptions call the same function: its argument tells them apart.
    func onSuccess(_ text: String) { add("success \(text)") }
    func onFailure(_ error: MobileError) {
      add("failure \(error.code) \(error.subCode) \(error.subMsg)")
    }
    func onFailed(_ topic: String, _ error: MobileError) { add("failed \(topic) \(error.code)") }
    func needUISafety() -> Bool { isOnMain }
    func onCommand(_ topic: String, _ msg: String) { add("\(topic) \(msg)") }
    func shouldHandle(_ topic: String) -> Bool { wanted == nil || wanted == topic }
  }

  /// Unregisters another listener as soon as it hears anything.
  private final class Remover: MobileConnectListener {
    let channel: MobileChannel
    let other: any MobileConnectListener

    init(_ channel: MobileChannel, _ other: any MobileConnectListener) {
      self.channel = channel
      self.other = other
    }

    func onConnectStateChange(_ state: MobileConnectState) {
      channel.unRegisterConnectListener(other)
    }
  }

  private func run(
    _ responder: @escaping ScriptedClient.Responder = SampleChannel.cloud,
    log: (@Sendable (DeviceLog.Entry) -> Void)? = nil,
    _ body: (MobileChannel, ScriptedClient) async throws -> Void
  ) async throws {
    let client = ScriptedClient(responder: responder)
    let config = MobileConnectConfig(appkey: "1234", securityGuardAuthcode: "114d")
    try await withMobileChannel(
      on: client, config: config, identity: try SampleChannel.identity(), log: log
    ) {
      await client.settle()
      try await body($0, client)
    }
  }

  // MARK: The connection

  @Test func tellsStatesByTheirNames() async throws {
    let (ear, late, end) = (Ear(), Ear(), Ear())
    try await run { channel, client in
      channel.registerConnectListener(false, ear)
      channel.registerConnectListener(false, ear)
      #expect(channel.getMobileConnectState() == .disconnected)
      channel.startConnect(late)
      await client.settle()
      #expect(channel.getMobileConnectState() == .connected)
      #expect(channel.getClientId() == "dev1&a1pk")
      client.feed(.closed(.lost("the test says so")))
      await client.settle()
      #expect(channel.getMobileConnectState() == .disconnected)
      channel.unRegisterConnectListener(ear)
      await client.advance(by: .seconds(2))
      channel.endConnect(end)
      await client.settle()
    }
    #expect(ear.lines == ["CONNECTING", "CONNECTED", "DISCONNECTED"])
    #expect(end.lines == ["DISCONNECTED"])
  }

  @Test func tellsNoStateToAListenerThatWasUnregisteredMeanwhile() async throws {
    let (removed, stays) = (Ear(isOnMain: true), Ear(isOnMain: true))
    try await run { channel, client in
      channel.registerConnectListener(true, Remover(channel, removed))
      channel.registerConnectListener(true, removed)
      channel.startConnect(stays)
      while stays.lines.count < 2 { await Task.yield() }
    }
    #expect(stays.lines.starts(with: ["CONNECTING", "CONNECTED"]))
    #expect(removed.lines.isEmpty)
  }

  @Test func aConnectionThatCanNotBeOpenedHasFailed() async throws {
    let ear = Ear()
    try await run({ action, _ in
      if case .connect = action.kind { [.closed(.refused(code: 5))] } else { [] }
    }) { channel, client in
      channel.registerConnectListener(false, ear)
      channel.startConnect()
      await client.settle()
      #expect(channel.getMobileConnectState() == .connectFail)
    }
    #expect(ear.lines == ["CONNECTING", "CONNECTFAIL"])
  }

  @Test func listenersAreHeldUntilTheyAreUnregistered() async throws {
    weak var gone: Ear?
    try await run { channel, client in
      var ear: Ear? = Ear()
      gone = ear
      if let ear { channel.registerDownstreamListener(false, ear) }
      ear = nil
      #expect(gone != nil)
      if let ear = gone { channel.unRegisterDownstreamListener(ear) }
      #expect(gone == nil)
    }
  }

  // MARK: Calls

  @Test func callsEndWithDataOrTheReason() async throws {
    let (ear, refused) = (Ear(), Ear())
    try await run { channel, client in
      channel.asyncSendRequest("/early", nil, [:], refused)
      channel.startConnect()
      await client.settle()
      channel.asyncSendRequest("/a", ["extraParam": ["method": "m"]], ["v": 1], ear)
      channel.ayncSendPublishRequest("/b", ["v": 2], ear)
      await client.settle()
      channel.bindAccount("token", ear)
      await client.settle()
      #expect(channel.channel.account == .bound)
      channel.unBindAccount(ear)
      channel.ayncSendPublishRequest("/#", [:], refused)
      await client.settle()
      let payloads = client.performed.compactMap { action -> String? in
        guard case .publish(let message) = action.kind, message.topic.hasSuffix("/a") else {
          return nil
        }
        return String(decoding: message.payload, as: UTF8.self)
      }
      #expect(payloads.first?.contains(#""params":{"v":1},"method":"m""#) == true)
    }
    #expect(ear.lines.sorted() == ["{\"v\":1}", "{}", "{}", "{}"].map { "success \($0)" })
    #expect(refused.lines == ["failure 4101 0 ", "failure 4201 0 "])
  }

  @Test func theCloudsOwnErrorIsInside() async throws {
    let ear = Ear()
    let responder: ScriptedClient.Responder = { action, now in
      if case .publish(let message) = action.kind {
        return [.published(action.id)] + SampleChannel.reply(to: message, code: 460)
      }
      return try SampleChannel.cloud(action, now)
    }
    try await run(responder) { channel, client in
      channel.startConnect()
      await client.settle()
      channel.asyncSendRequest("/a", nil, [:], ear)
      await client.settle()
    }
    #expect(ear.lines == ["failure 4103 460 told"])
  }

  @Test func subscriptionsAreToldByTheTopicThatWasGiven() async throws {
    let (ear, refused) = (Ear(), Ear())
    try await run { channel, client in
      channel.subscrbie("/early", refused)
      channel.startConnect()
      await client.settle()
      channel.subscrbie("own/#", ear)
      await client.settle()
      channel.unSubscrbie("own/#", ear)
      await client.settle()
    }
    #expect(ear.lines == ["success own/#", "success own/#"])
    #expect(refused.lines == ["failed /early 4101"])
  }

  // MARK: Messages

  @Test func listenersGetParametersOrTheWholePayload() async throws {
    let (all, one) = (Ear(), Ear(wanted: "/b"))
    try await run { channel, client in
      channel.registerDownstreamListener(false, all)
      channel.registerDownstreamListener(false, all)
      channel.registerDownstreamListener(false, one)
      channel.startConnect()
      await client.settle()
      client.feed(
        SampleChannel.message("/a", ["id": "7", "params": ["x": 1]]),
        SampleChannel.message("/b", ["y": 2]),
        .message(Message(topic: SampleChannel.down + "/c", payload: Array("text".utf8))))
      await client.settle()
      channel.unRegisterDownstreamListener(all)
      client.feed(SampleChannel.message("/b", [:]))
      await client.settle()
    }
    #expect(all.lines == [#"/a {"x":1}"#, #"/b {"y":2}"#, "/c text"])
    #expect(one.lines == [#"/b {"y":2}"#, "/b {}"])
  }

  @Test func theMainActorIsUsedWhereItIsAskedFor() async throws {
    let ear = Ear(isOnMain: true)
    try await run { channel, client in
      channel.registerDownstreamListener(true, ear)
      channel.startConnect(ear)
      await client.settle()
      channel.subscrbie("/own", ear)
      client.feed(SampleChannel.message("/a", [:]))
      await client.settle()
    }
    // The channel's end waits until all is told.
    #expect(
      Set(ear.lines) == ["CONNECTING", "CONNECTED", "success /own", "/a {}", "DISCONNECTED"])
  }

  // MARK: The log

  @Test func theLogIsOpenedAndClosed() async throws {
    let entries = Mutex<[String]>([])
    func count() -> Int { entries.withLock { $0.count } }
    try await run(log: { entry in entries.withLock { $0.append(entry.message) } }) {
      channel, client in
      channel.startConnect()
      await client.settle()
      #expect(count() == 0)
      channel.setOpenLog(true)
      client.feed(.closed(.lost("x")))
      await client.settle()
      let open = count()
      #expect(open > 0)
      channel.setOpenLog(false)
      await client.advance(by: .seconds(2))
      #expect(count() == open)
    }
  }
}
