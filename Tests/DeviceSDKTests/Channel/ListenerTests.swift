import RepriseCore
import Synchronization
import TestSupport
import Testing

@testable import DeviceSDK

@Suite struct ListenerTests {
  /// Writes down what it hears, and whether it was on the main thread's actor.
  private final class Recorder: ChannelDownstreamListener, ChannelConnectListener {
    let heard = Mutex<[String]>([])
    let wanted: String?

    init(wanted: String? = nil) { self.wanted = wanted }

    func shouldHandle(topic: String) -> Bool { wanted == nil || wanted == topic }
    func onDownstream(topic: String, message: ChannelMessage) {
      heard.withLock { $0.append(topic) }
    }
    func onConnectState(_ change: ChannelStateChange) {
      heard.withLock { $0.append("\(change.state)") }
    }
    var lines: [String] { heard.withLock { $0 } }
  }

  private final class Plain: ChannelDownstreamListener {
    let count = Mutex(0)
    func onDownstream(topic: String, message: ChannelMessage) { count.withLock { $0 += 1 } }
  }

  /// Removes another listener as soon as it hears anything.
  private final class Remover: ChannelDownstreamListener {
    let channel: Channel
    let other: any ChannelDownstreamListener

    init(_ channel: Channel, _ other: any ChannelDownstreamListener) {
      self.channel = channel
      self.other = other
    }

    func onDownstream(topic: String, message: ChannelMessage) {
      channel.removeDownStreamListener(other)
    }
  }

  private final class MainChecker: ChannelDownstreamListener {
    let isOnMain = Mutex<[Bool]>([])
    func onDownstream(topic: String, message: ChannelMessage) {
      MainActor.assumeIsolated { isOnMain.withLock { $0.append(true) } }
    }
  }

  private func run(
    log: DeviceLog = DeviceLog(), _ body: (Channel, ScriptedClient) async throws -> Void
  ) async throws {
    var configuration = try SampleChannel.configuration()
    configuration.log = log
    let client = ScriptedClient(responder: SampleChannel.cloud)
    try await withChannel(on: client, configuration: configuration) {
      try await body($0, client)
    }
  }

  @Test func asksEachListenerForEachTopic() async throws {
    try await run { channel, client in
      let (all, one, plain) = (Recorder(), Recorder(wanted: "/b"), Plain())
      channel.addDownStreamListener(uiSafety: false, listener: all)
      channel.addDownStreamListener(uiSafety: false, listener: all)
      channel.addDownStreamListener(uiSafety: false, listener: one)
      channel.addDownStreamListener(uiSafety: false, listener: plain)
      #expect(channel.listenerCount == 3)
      try await channel.start()
      client.feed(SampleChannel.message("/a", [:]), SampleChannel.message("/b", [:]))
      await client.settle()
      channel.removeDownStreamListener(all)
      client.feed(SampleChannel.message("/b", [:]))
      await client.settle()
      #expect(all.lines == ["/a", "/b"])
      #expect(one.lines == ["/b", "/b"])
      #expect(plain.count.withLock { $0 } == 3)
    }
  }

  @Test func holdsListenersWeakly() async throws {
    let entries = Mutex<[DeviceLog.Entry]>([])
    let log = DeviceLog(levels: [.listener: .debug]) { entry in
      entries.withLock { $0.append(entry) }
    }
    try await run(log: log) { channel, client in
      weak var gone: Recorder?
      do {
        let listener = Recorder()
        gone = listener
        channel.addDownStreamListener(uiSafety: false, listener: listener)
        #expect(channel.listenerCount == 1)
      }
      #expect(gone == nil)
      #expect(channel.listenerCount == 0)
      try await channel.start()
      client.feed(SampleChannel.message("/a", [:]))
      await client.settle()
      #expect(entries.withLock { $0.map(\.module) } == [.listener])
    }
  }

  @Test func callsOnTheMainActorIfAskedTo() async throws {
    let listener = MainChecker()
    try await run { channel, client in
      channel.addDownStreamListener(uiSafety: true, listener: listener)
      try await channel.start()
      client.feed(SampleChannel.message("/a", [:]), SampleChannel.message("/b", [:]))
      await client.settle()
    }
    #expect(listener.isOnMain.withLock { $0 } == [true, true])
  }

  @Test func tellsNothingToAListenerThatWasRemovedMeanwhile() async throws {
    let (removed, stays) = (Recorder(), Recorder())
    try await run { channel, client in
      let remover = Remover(channel, removed)
      channel.addDownStreamListener(uiSafety: true, listener: remover)
      channel.addDownStreamListener(uiSafety: true, listener: removed)
      channel.addDownStreamListener(uiSafety: true, listener: stays)
      try await channel.start()
      client.feed(SampleChannel.message("/a", [:]))
      await client.settle()
      await heard(by: stays)
    }
    #expect(stays.lines == ["/a"])
    #expect(removed.lines.isEmpty)
  }

  private func heard(by listener: Recorder) async {
    while listener.lines.isEmpty { await Task.yield() }
  }

  @Test func tellsConnectListenersEachChange() async throws {
    let (listener, late) = (Recorder(), Recorder())
    try await run { channel, client in
      channel.startConnect(listener: listener)
      try await channel.start()
      // What waits for the main actor is not told any more to a listener that is removed.
      await heard(by: listener)
      channel.addConnectListener(late, uiSafety: false)
      channel.removeConnectListener(listener)
      await withCheckedContinuation { done in
        channel.stopConnect { error in
          #expect(error == nil)
          done.resume()
        }
      }
    }
    #expect(listener.lines.starts(with: ["connecting"]))
    #expect(late.lines == ["disconnected"])
  }

  @Test func callsEachHandlerOnce() async throws {
    let heard = Mutex<[String]>([])
    @Sendable func note(_ name: String, _ error: ChannelError?) {
      heard.withLock { $0.append(error.map { "\(name) \($0.kind)" } ?? name) }
    }
    try await run { channel, client in
      try await channel.start()
      channel.invokeWithTopic("/a", opts: nil, params: ["x": 1]) { response in
        #expect(response.reply?.data == ["x": 1])
        note("invoke", response.error)
      }
      channel.publish("/a", params: [:]) { note("publish", $0) }
      channel.subscribe("/a") { note("subscribe", $0) }
      channel.unsubscribe("/a") { note("unsubscribe", $0) }
      channel.publish("", params: [:]) { note("wrong", $0) }
      channel.bind(token: "t") { note("bind", $0) }
      await client.settle()
      channel.unbind { note("unbind", $0) }
      await client.settle()
    }
    let lines = heard.withLock { $0 }
    #expect(
      Set(lines) == [
        "invoke", "publish", "subscribe", "unsubscribe", "wrong client", "bind", "unbind",
      ])
    #expect(lines.count == 7)
  }

  @Test func letsAHandlerCallTheChannel() async throws {
    try await run { channel, client in
      try await channel.start()
      let state = await withCheckedContinuation { done in
        channel.subscribe("/a") { _ in
          let state = channel.state
          channel.unsubscribe("/a") { _ in done.resume(returning: state) }
        }
      }
      #expect(state == .connected)
    }
  }
}
