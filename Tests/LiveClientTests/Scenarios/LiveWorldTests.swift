import ConformanceKit
import DeviceSDK
import Gates
import LiveClient
import RepriseCore
import TestSupport
import Testing

@testable import reprise

/// The real SDK in a world whose cloud is a real broker that does as the steps say.
@Suite struct LiveWorldTests {
  @Test func playsAScenario() async throws {
    let broker = try await Broker()
    let world = try LiveWorld(broker: broker.url)
    let device = try LiveDevice("dev1")
    try await withChannel(on: world.client, configuration: device.configuration) { channel in
      let messages = channel.messages()
      async let start: Void = channel.start()
      try await world.perform(.accept)
      try await start
      try await world.perform(.grant(nil))
      try await world.perform(.send(device.message("/thing/properties", #"{"params":{"a":1}}"#)))
      var iterator = messages.makeAsyncIterator()
      #expect(try await iterator.next()?.topic == "/thing/properties")
      async let publish: Void = channel.publish("/p")
      try await world.perform(.acknowledge)
      try await publish
      async let reply = channel.invoke("/a")
      try await world.perform(.grant(nil))
      try await world.perform(.send(device.message("/a_reply", #"{"id":"2","code":200,"data":7}"#)))
      #expect(try await reply.data == .number("7"))
      let error = await #expect(throws: ChannelError.self) {
        async let refused: Void = channel.subscribe("/s")
        try await world.perform(.grant([nil]))
        try await refused
      }
      #expect(error?.kind == .gateway && error?.cloudCode == 0x80)
      try await world.settle()
      // A request at QoS 1 without an acknowledgement does not hold the goodbye up.
      try await channel.stop()
      try await world.perform(.close)
    }
    try await world.end()
  }

  @Test func refusesAndLoses() async throws {
    let broker = try await Broker()
    let world = try LiveWorld(broker: broker.url)
    let device = try LiveDevice("dev1")
    try await withChannel(on: world.client, configuration: device.configuration) { channel in
      async let start: Void = channel.start()
      try await world.perform(.lose)
      try await world.perform(.refuse(code: 3))
      try await world.perform(.accept)
      try await start
      try await world.perform(.grant(nil))
      let states = channel.stateChanges
      try await world.perform(.lose)
      try await world.perform(.accept)
      try await world.perform(.grant(nil))
      var seen: [ChannelState] = []
      for await change in states {
        seen.append(change.state)
        if change.state == .connected { break }
      }
      #expect(seen == [.disconnected, .connecting, .connected])
      #expect(channel.statistics.lostConnections == 1)
      // What the broker knew of the lost connection is subscribed to anew.
      try await world.perform(.send(device.message("/back", "{}")))
      try await world.perform(.lose)
      try await world.perform(.refuse(code: 4))
    }
    try await world.end()
  }

  @Test func leavesNothingBehind() async throws {
    let broker = try await Broker()
    let world = try LiveWorld(broker: broker.url)
    let kept = Message(topic: "kept", payload: [1], qos: .atLeastOnce, isRetained: true)
    try await world.perform(.send(kept))
    let before = try await TestClient.connected(broker)
    try await before.subscribe("kept")
    #expect(try await before.message().payload == [1])
    try await world.end()
    let after = try await TestClient.connected(broker)
    try await after.subscribe("kept", "end")
    try await after.publish("end", [2])
    #expect(try await after.message().payload == [2])
  }

  @Test func takesTheUserOfTheURL() async throws {
    let directory = Scratch()
    let users = directory.file("users")
    try await Child.run(["mosquitto_passwd", "-b", "-c", users, "cloud", "p@ss"])
    let broker = try await Broker(["allow_anonymous false", "password_file \(users)"])
    let world = try LiveWorld(broker: "mqtt://cloud:p%40ss@127.0.0.1:\(broker.port)")
    let id = ClientAction.ID(rawValue: 1)
    try await world.client.perform(ClientAction(id, .connect(ConnectOptions())))
    try await world.perform(.accept)
    try await world.perform(.send(Message(topic: "a", payload: [])))
    try await world.end()
    let wrong = try LiveWorld(broker: broker.url)
    let error = await #expect(throws: DataClientError.self) {
      try await wrong.perform(.send(Message(topic: "a", payload: [])))
    }
    #expect(error?.message.contains("refused") == true)
  }

  @Test func livesBesideOthers() async throws {
    let broker = try await Broker()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let world = try LiveWorld(broker: broker.url)
          let device = try LiveDevice("dev\(number)")
          try await withChannel(on: world.client, configuration: device.configuration) { channel in
            let messages = channel.messages()
            async let start: Void = channel.start()
            try await world.perform(.accept)
            try await start
            try await world.perform(.grant(nil))
            try await world.perform(.send(device.message("/n", "\(number)")))
            var iterator = messages.makeAsyncIterator()
            #expect(try await iterator.next()?.payload == Array("\(number)".utf8))
          }
          try await world.end()
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func takesTheChainThatIsWanted() async throws {
    let broker = try await Broker()
    let world = try LiveWorld(broker: broker.url, patience: nil) { client in
      try FaultInjector(client, [])
    }
    #expect(world.client is FaultInjector<GatedClient<MosquittoClient>>)
    #expect(world.patience == nil && world.port != broker.port)
    #expect(throws: DataClientError.self) { try LiveWorld(broker: "mqtts://127.0.0.1") }
  }
}
