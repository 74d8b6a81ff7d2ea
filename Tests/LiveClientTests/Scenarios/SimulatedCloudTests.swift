import DeviceSDK
import RepriseCore
import Testing

@testable import reprise

/// The real SDK and the simulated cloud at a real broker.
@Suite struct SimulatedCloudTests {
  /// Runs a channel that is connected, beside a cloud that behaves as a script says.
  private func withCloud<Result: Sendable>(
    _ script: String, broker: Broker? = nil, device: String = "dev1",
    body: @escaping @Sendable (Channel) async throws -> Result
  ) async throws -> Result {
    let broker = if let broker { broker } else { try await Broker() }
    let device = try LiveDevice(device)
    return try await LiveWorld.simulated(try device.cloud(script), broker: broker.url) { world in
      let result = try await withChannel(
        on: world.client, configuration: device.configuration
      ) { channel in
        try await channel.start()
        return try await body(channel)
      }
      try await world.end()
      return result
    }
  }

  @Test func bindsAndUnbinds() async throws {
    try await withCloud(#"{"tokens":{"stale":{"code":2043}}}"#) { channel in
      let error = await #expect(throws: ChannelError.self) {
        try await channel.bind(token: "stale")
      }
      #expect(error?.kind == .login && error?.cloudCode == 2043)
      #expect(channel.account == .unbound)
      try await channel.bind(token: "good")
      #expect(channel.account == .bound)
      try await channel.unbind()
      #expect(channel.account == .unbound)
    }
  }

  @Test func answersRequests() async throws {
    try await withCloud(#"{"replies":[{"topic":"/bad","code":460}]}"#) { channel in
      for number in 0..<20 {
        let reply = try await channel.invoke("/a", ["n": .number("\(number)")])
        #expect(reply.data == ["n": .number("\(number)")])
      }
      let error = await #expect(throws: ChannelError.self) { try await channel.invoke("/bad") }
      #expect(error?.kind == .business && error?.cloudCode == 460)
    }
  }

  @Test func timesOutWithoutReply() async throws {
    try await withCloud(#"{"replies":[{"topic":"/none","faults":["no-reply"]}]}"#) { channel in
      let error = await #expect(throws: ChannelError.self) {
        try await channel.invoke("/none", timeout: .milliseconds(200))
      }
      #expect(error?.kind == .network)
      let reply = try await channel.invoke("/some")
      #expect(reply.code == 200)
      #expect(channel.statistics.lateReplies == 0)
    }
  }

  /// A reply that is not as it should be.
  enum OddReply: String, CaseIterable {
    case late = #""after":0.4"#
    case duplicate = #""faults":["duplicate"]"#
    case wrongID = #""faults":["wrong-id"]"#

    /// What the channel counts of it: late, duplicate, unknown.
    var counts: [UInt64] { Self.allCases.map { $0 == self ? 1 : 0 } }
  }

  @Test(arguments: OddReply.allCases) func countsOddReplies(_ odd: OddReply) async throws {
    // The last request is answered behind all that is odd.
    let script = #"{"replies":[{"topic":"/odd",\#(odd.rawValue)},{"topic":"/last","after":0.4}]}"#
    try await withCloud(script) { channel in
      let isAnswered = odd == .duplicate
      let timeout = isAnswered ? Duration.seconds(30) : .milliseconds(200)
      let reply = try? await channel.invoke("/odd", timeout: timeout)
      #expect((reply != nil) == isAnswered)
      _ = try await channel.invoke("/last")
      let counts = channel.statistics
      #expect(
        [counts.lateReplies, counts.duplicateReplies, counts.unknownReplies] == odd.counts)
    }
  }

  @Test func pushesProperties() async throws {
    let script = #"{"pushes":[{"properties":{"LightSwitch":1},"on":"/go"}]}"#
    try await withCloud(script) { channel in
      let messages = channel.messages(matching: "/thing/#")
      _ = try await channel.invoke("/go")
      var iterator = messages.makeAsyncIterator()
      let message = try await iterator.next()
      #expect(message?.topic == "/thing/properties")
      let text = String(decoding: message?.payload ?? [], as: UTF8.self)
      #expect(text.contains("LightSwitch"))
    }
  }

  @Test func hearsItsOwnDeviceOnly() async throws {
    let broker = try await Broker()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<6 {
        group.addTask {
          let script = #"{"replies":[{"data":\#(number)}]}"#
          try await withCloud(script, broker: broker, device: "dev\(number)") { channel in
            for _ in 0..<10 {
              let reply = try await channel.invoke("/a")
              #expect(reply.data == .number("\(number)"))
            }
            let counts = channel.statistics
            #expect(counts.duplicateReplies + counts.unknownReplies == 0)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func saysWhatKeepsTheCloudAway() async throws {
    let device = try LiveDevice("dev1")
    let (reserve, port) = try Socket.reserved()
    defer { withExtendedLifetime(reserve) {} }
    let absent = await #expect(throws: DataClientError.self) {
      try await LiveWorld.simulated(
        try device.cloud("{}"), broker: "mqtt://127.0.0.1:\(port)"
      ) { _ -> Void in Issue.record("there is no cloud") }
    }
    #expect(absent?.message.contains("does not answer") == true)
    let broker = try await Broker()
    let impossible = await #expect(throws: (any Error).self) {
      let cloud = try device.cloud(#"{"refusedSubscriptions":["/a"]}"#)
      try await LiveWorld.simulated(cloud, broker: broker.url) { _ -> Void in
        Issue.record("there is no cloud")
      }
    }
    let text = impossible.map { "\($0)" } ?? ""
    #expect(text.contains("refusedSubscriptions asks for what a real broker"), "\(text)")
  }
}
