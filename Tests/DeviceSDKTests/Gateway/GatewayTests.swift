import CloudSimulator
import RepriseCore
import Testing

@testable import DeviceSDK

/// The gateway as applications use it, with a cloud at the other end.
@Suite struct GatewayTests {
  /// SDK-gateway-20.
  @Test func bringsASubdeviceOnlineStepByStep() async throws {
    try await GatewayWorld.run { gateway, world in
      let line = try await gateway.line(for: TestSubdevice())
      #expect(line.state == .ready && !line.isTopologyAdded)
      #expect(try await line.addTopology()?.code == 200)
      #expect(line.isTopologyAdded && !line.isOnline)
      #expect(world.cloud.topology == [GatewayWorld.lamp: GatewayWorld.phone])
      let login = try await line.goOnline()
      #expect(login?.code == 200 && login?.data?["deviceName"] == "test")
      #expect(line.isOnline && world.cloud.onlineSubdevices == [GatewayWorld.lamp])
      #expect(try await line.goOnline() == nil, "it is online, and nothing was asked for")
      #expect(try await gateway.goOnline([line]) == [])
      let reply = try await line.post(properties: ["Power": 1])
      #expect(reply.code == 200 && reply.data == [:])
      let event = try await line.post(event: "Alarm", value: ["level": 3])
      #expect(event.code == 200)
      try await line.upload([0, 1, 2])
      try await line.goOffline()
      #expect(line.state == .topology && world.cloud.onlineSubdevices.isEmpty)
      try await line.deleteTopology()
      #expect(line.state == .ready && world.cloud.topology.isEmpty)
    }
  }

  /// SDK-gateway-1, 2.
  @Test func ridesOnTheConnectionOfAChannel() async throws {
    try await GatewayWorld.withWorld { world, client in
      let session = SharedSession(on: client)
      var channelConfiguration = ChannelConfiguration(
        appKey: "1234", identity: try ChannelIdentity(productKey: "a1gw", deviceName: "phone"))
      channelConfiguration.reconnect.jitterPercent = 0
      try await withChannel(on: session, configuration: channelConfiguration) { channel in
        let clientID = try #require(channel.clientID)
        try await withGateway(
          on: session, configuration: GatewayConfiguration(ridingAs: clientID)
        ) { gateway in
          try await channel.start()
          try await gateway.start()
          let line = try await gateway.connect(TestSubdevice())
          #expect(line.isOnline)
          let reply = try await channel.invoke("/thing/get", ["iotId": "x"])
          #expect(reply.data == ["iotId": "x"])
          let post = try await line.post(properties: ["Power": 1])
          #expect(post.code == 200)
          var states = line.changes.makeAsyncIterator()
          world.cloud.endSessions(of: GatewayWorld.phone)
          world.broker.drop("app")
          #expect(await states.next()?.state == .topology)
          #expect(await states.next()?.state == .online)
          let again = try await line.post(properties: ["Power": 0])
          #expect(again.code == 200)
        }
        #expect(channel.state == .connected)
        try await channel.publish("/still/there")
      }
      #expect(world.log.connects == 2, "one, and one after the loss")
    }
  }

  /// SDK-gateway-4.
  @Test func refusesToRideOnAChannelThatDoesNotKnowWhoItIs() {
    for clientID in ["", "phone", "&", "phone&", "&a1gw", "a&b&c", "a/b&c"] {
      let error = #expect(throws: GatewayError.self) {
        try GatewayConfiguration(ridingAs: clientID)
      }
      #expect(error?.kind == .client)
    }
  }

  // MARK: Commands and notices

  /// SDK-gateway-49.
  @Test func answersCommands() async throws {
    try await GatewayWorld.run { gateway, world in
      let line = try await gateway.connect(TestSubdevice())
      var commands = line.commands.makeAsyncIterator()
      for content in [
        GatewayPush.Content.set(["Power": 0]), .get(["Power"]), .service("reset", ["hard": true]),
      ] {
        world.cloud.push(GatewayPush(content, of: GatewayWorld.lamp))
        let command = try #require(await commands.next())
        switch command.kind {
        case .setProperties: #expect(command.params == ["Power": 0])
        case .getProperties: #expect(command.params == ["Power"])
        case .service(let name): #expect(name == "reset" && command.params == ["hard": true])
        case .disable, .enable, .delete: Issue.record("\(command)")
        }
        try await line.answer(command, ["Power": 1])
      }
      try await gateway.start()
      _ = try await gateway.topology()
      #expect(world.cloud.answerCounts[GatewayWorld.lamp] == 3)
    }
  }

  /// SDK-gateway-50.
  @Test func answersForTheSubdeviceWhenItIsDisabledEnabledAndDeleted() async throws {
    try await GatewayWorld.run { gateway, world in
      let line = try await gateway.connect(TestSubdevice())
      var commands = line.commands.makeAsyncIterator()
      world.cloud.push(GatewayPush(.disable, of: GatewayWorld.lamp))
      let command = try #require(await commands.next())
      #expect(command.kind == .disable && line.isDisabled)
      let error = try await #require(throws: GatewayError.self) { try await line.answer(command) }
      #expect(error.kind == .client)
      world.cloud.push(GatewayPush(.enable, of: GatewayWorld.lamp))
      #expect(await commands.next()?.kind == .enable)
      #expect(!line.isDisabled)
      world.cloud.push(GatewayPush(.delete, of: GatewayWorld.lamp))
      #expect(await commands.next()?.kind == .delete)
      #expect(line.state == .ready)
      _ = try await gateway.topology()
      #expect(world.cloud.answerCounts[GatewayWorld.lamp] == 3)
      let login = try await #require(throws: GatewayError.self) { try await line.goOnline() }
      #expect(login.cloudCode == 521)
    }
  }

  @Test func refusesToAnswerForAnother() async throws {
    try await GatewayWorld.run { gateway, world in
      let line = try await gateway.connect(TestSubdevice())
      let other = try await gateway.line(for: TestSubdevice(GatewayBench.other))
      var commands = line.commands.makeAsyncIterator()
      world.cloud.push(GatewayPush(.set([:]), of: GatewayWorld.lamp))
      let command = try #require(await commands.next())
      let error = try await #require(throws: GatewayError.self) { try await other.answer(command) }
      #expect(error.kind == .client)
    }
  }

  /// SDK-gateway-47, 48.
  @Test func tellsChangesOfTheTopology() async throws {
    try await GatewayWorld.run { gateway, world in
      let line = try await gateway.connect(TestSubdevice())
      var notices = gateway.notices.makeAsyncIterator()
      for (status, state, isDisabled) in [
        (8, LineState.online, true), (2, .online, false), (1, .ready, false), (0, .topology, false),
        (7, .topology, false),
      ] {
        world.cloud.push(GatewayPush(.topologyChange(status), of: GatewayWorld.lamp))
        #expect(
          await notices.next() == .topologyChanged(.init(rawValue: status), [line.subdevice]))
        #expect(line.state == state && line.isDisabled == isDisabled)
      }
      world.cloud.push(GatewayPush(.add, of: GatewayWorld.lamp))
      #expect(await notices.next() == .shouldAdd([line.subdevice]))
      world.cloud.push(GatewayPush(.sessionError("427"), of: GatewayWorld.lamp))
      let notice = await notices.next()
      #expect(notice == .sessionError(code: 427, message: "session error", line.subdevice))
      _ = try await gateway.topology()
      #expect(world.cloud.answerCounts[GatewayWorld.phone] == 6)
    }
  }

  // MARK: What the cloud knows

  /// SDK-gateway-17.
  @Test func registersSubdevices() async throws {
    try await GatewayWorld.run { gateway, _ in
      let registered = try await gateway.register([
        .init(productKey: "123", deviceName: "1D2456F2D34E"), .init(productKey: "123"),
      ])
      #expect(registered.map(\.deviceName) == ["1D2456F2D34E", "made-2"])
      #expect(registered.first?.deviceSecret?.revealed == "secret-1")
      #expect(!"\(registered)".contains("secret-"))
      try await gateway.unregister([GatewayBench.sub])
      try await gateway.reportFound([GatewayBench.sub, GatewayBench.other])
      for registration in [
        SubdeviceRegistration(productKey: ""), .init(productKey: "1", deviceName: "a/b"),
      ] {
        let error = try await #require(throws: GatewayError.self) {
          try await gateway.register([registration])
        }
        #expect(error.kind == .client)
      }
    }
  }

  @Test func asksForTheTopology() async throws {
    try await GatewayWorld.run { gateway, _ in
      let line = try await gateway.connect(TestSubdevice())
      #expect(try await gateway.topology() == [line.subdevice])
      try await line.deleteTopology()
      #expect(try await gateway.topology() == [])
    }
  }

  /// SDK-gateway-42.
  @Test func worksOnManyAtOnce() async throws {
    try await GatewayWorld.run { gateway, world in
      var lines: [GatewayLine] = []
      for number in 0..<12 {
        let subdevice = Subdevice(known: "123", "lamp\(number)")
        lines.append(try await gateway.line(for: TestSubdevice(subdevice)))
      }
      try await gateway.addTopology(lines)
      try await gateway.goOnline(lines)
      #expect(lines.allSatisfy(\.isOnline) && world.cloud.onlineSubdevices.count == 12)
      #expect(world.log.publishes(to: "/sys/a1gw/phone/thing/topo/add") == 1)
      #expect(world.log.publishes(to: "/ext/session/a1gw/phone/combine/batch_login") == 3)
      try await gateway.goOnline(lines)
      #expect(world.log.publishes(to: "/ext/session/a1gw/phone/combine/batch_login") == 3)
      try await gateway.goOffline(Array(lines.prefix(7)))
      #expect(lines.filter(\.isOnline).count == 5)
      try await gateway.deleteTopology(lines)
      #expect(lines.allSatisfy { $0.state == .ready })
      #expect(gateway.lines.map(\.subdevice) == lines.map(\.subdevice).sorted())
    }
  }

  /// SDK-gateway-51.
  @Test func postsPacks() async throws {
    try await GatewayWorld.run { gateway, _ in
      let content = GatewayPack.Content(
        properties: [JSONMember("Power", [["value": 1, "time": 5]])],
        events: [JSONMember("Alarm", [["value": [:], "time": 5], ["value": [:], "time": 6]])])
      let reply = try await gateway.post(
        GatewayPack(subdevices: [.init(GatewayBench.sub, content)]))
      #expect(reply.code == 200)
      let tooMany = Array(repeating: GatewayPack.Part(GatewayBench.sub, content), count: 21)
      for pack in [
        GatewayPack(subdevices: tooMany),
        GatewayPack(
          gateway: .init(events: [JSONMember("e", .array(Array(repeating: 1, count: 201)))])),
        GatewayPack(gateway: .init(properties: (0..<201).map { JSONMember("\($0)", [1]) })),
      ] {
        let error = try await #require(throws: GatewayError.self) { try await gateway.post(pack) }
        #expect(error.kind == .client)
      }
    }
  }

  /// SDK-gateway-51.
  @Test func refusesPropertiesThatAreNoneOrTooMany() async throws {
    try await GatewayWorld.run { gateway, _ in
      let line = try await gateway.connect(TestSubdevice())
      for properties in [["Power"], 7, .object((0..<201).map { JSONMember("\($0)", 1) })]
        as [JSONValue]
      {
        let error = try await #require(throws: GatewayError.self) {
          try await line.post(properties: properties)
        }
        #expect(error.kind == .client)
      }
      let error = try await #require(throws: GatewayError.self) {
        try await line.post(event: "a/b")
      }
      #expect(error.kind == .client)
    }
  }

  /// SDK-gateway-22.
  @Test func failsBeforeItIsStarted() async throws {
    try await GatewayWorld.withWorld { _, client in
      try await withGateway(on: client, configuration: GatewayWorld.configuration()) { gateway in
        let line = try await gateway.line(for: TestSubdevice())
        let error = try await #require(throws: GatewayError.self) { try await line.addTopology() }
        #expect(error.kind == .network)
        let other = try await #require(throws: GatewayError.self) { try await gateway.topology() }
        #expect(other.kind == .network)
      }
    }
  }
}
