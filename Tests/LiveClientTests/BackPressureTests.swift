import Glibc
import LiveClient
import RepriseCore
import Testing

/// A user that does not keep up makes no memory grow.
@Suite struct BackPressureTests {
  @Test func leavesTheSocketAloneWhenEventsWait() async throws {
    let sent = Counter()
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 2, 0, 0])
      // 64 KiB each at QoS 0, until nobody takes any more.
      let packet: [UInt8] =
        [0x30, 0x83, 0x80, 4, 0, 1, 0x61] + [UInt8](repeating: 1, count: 65_536)
      var timeout = timeval(tv_sec: 1, tv_usec: 0)
      setsockopt(
        socket.number, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      while sent.count < 5_000,
        send(socket.number, packet, packet.count, Int32(MSG_NOSIGNAL))
          == packet.count
      {
        sent.add()
      }
      sent.end()
      _ = socket.read(1_000)
    }
    let client = try TestClient(
      "mqtt://127.0.0.1:\(server.port)", limits: MosquittoClient.Limits(events: 100))
    try await client.connect(ConnectOptions(keepAlive: 0))
    try await sent.ends()
    // 100 events wait here; what is beyond stands in the buffers of the sockets.
    #expect(sent.count >= 100 && sent.count < 400, "\(sent.count)")
    for _ in 0..<sent.count { #expect(try await client.message().payload.count == 65_536) }
  }

  @Test(arguments: [
    MosquittoClient.Limits(events: 1), MosquittoClient.Limits(events: 7),
    MosquittoClient.Limits(eventBytes: 1), MosquittoClient.Limits(eventBytes: 5_000),
  ]) func losesNothing(_ limits: MosquittoClient.Limits) async throws {
    let broker = try await Broker(globals: ["max_queued_messages 100000"])
    let reader = try await TestClient.connected(broker, limits: limits)
    try await reader.subscribe("a", qos: .atLeastOnce)
    let writer = try await TestClient.connected(broker)
    let count = 2_000
    for number in 0..<count {
      let payload = [UInt8(number & 0xff), UInt8(number >> 8)] + [UInt8](repeating: 0, count: 500)
      try await writer.perform(
        .publish(Message(topic: "a", payload: payload, qos: .atLeastOnce)))
    }
    try await writer.publish("end", [])
    for number in 0..<count {
      #expect(
        try await reader.message().payload.prefix(2) == [UInt8(number & 0xff), UInt8(number >> 8)])
    }
  }

  @Test func staysConnectedWhileTheUserIsSlow() async throws {
    let pings = Counter()
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 2, 0, 0])
      for _ in 0..<20 { socket.write([0x30, 4, 0, 1, 0x61, 1]) }
      if socket.readPacket()?.first == 0xc0 { pings.add() }
      // No second one, and no end either, although the answer to the first is not read.
      socket.write([0xd0, 0])
      var timeout = timeval(tv_sec: 6, tv_usec: 500_000)
      setsockopt(
        socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      var byte: UInt8 = 0
      if recv(socket.number, &byte, 1, 0) < 0 { pings.end() }
      timeout = timeval()
      setsockopt(
        socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      while let packet = socket.readPacket(), packet.first == 0xc0 { socket.write([0xd0, 0]) }
    }
    let client = try TestClient(
      "mqtt://127.0.0.1:\(server.port)", limits: MosquittoClient.Limits(events: 10))
    try await client.connect(ConnectOptions(keepAlive: 5))
    try await pings.ends()
    #expect(pings.count == 1)
    for _ in 0..<20 { _ = try await client.message() }
    let later = Timestamp(nanoseconds: client.client.now.nanoseconds + 7_000_000_000)
    #expect(try await client.client.next(before: later) == .deadline)
  }

  /// The answer to a PINGREQ of before stands behind what the user does not read.
  @Test func staysConnectedWhenItAskedBeforeTheUserWasSlow() async throws {
    let ends = Observed<Bool?>(nil)
    let server = try ScriptedServer { socket in
      _ = socket.readPacket()
      socket.write([0x20, 2, 0, 0])
      guard socket.readPacket()?.first == 0xc0 else { return ends.change { $0 = true } }
      for _ in 0..<20 { socket.write([0x30, 4, 0, 1, 0x61, 1]) }
      socket.write([0xd0, 0])
      var timeout = timeval(tv_sec: 8, tv_usec: 0)
      setsockopt(
        socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      // It may ask again when the answer is read, which is not before the test goes on.
      var byte: UInt8 = 0
      let isLost = recv(socket.number, &byte, 1, 0) == 0
      ends.change { $0 = isLost }
      timeout = timeval()
      setsockopt(
        socket.number, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
      while let packet = socket.readPacket(), packet.first == 0xc0 { socket.write([0xd0, 0]) }
    }
    let client = try TestClient(
      "mqtt://127.0.0.1:\(server.port)", limits: MosquittoClient.Limits(events: 10))
    try await client.connect(ConnectOptions(keepAlive: 5))
    #expect(await ends.first { $0 } == false)
    for _ in 0..<20 { _ = try await client.message() }
    let later = Timestamp(nanoseconds: client.client.now.nanoseconds + 7_000_000_000)
    #expect(try await client.client.next(before: later) == .deadline)
  }

  @Test func refusesMessagesWhenTooManyWait() async throws {
    let broker = try await Broker()
    let limits = MosquittoClient.Limits(messages: 10, messageBytes: 1_000_000)
    let client = try await TestClient.connected(broker, limits: limits)
    broker.pause(true)
    let small = Message(topic: "a", payload: [1], qos: .atLeastOnce)
    for _ in 0..<10 { try await client.perform(.publish(small)) }
    #expect(await client.refusal(.publish(small)) == .transport)
    broker.pause(false)
    for _ in 0..<10 {
      guard case .published = try await client.event() else {
        Issue.record("not published")
        return
      }
    }
    var large = small
    large.payload = [UInt8](repeating: 1, count: 999_990)
    broker.pause(true)
    try await client.perform(.publish(large))
    #expect(await client.refusal(.publish(small)) == .transport)
    broker.pause(false)
    guard case .published = try await client.event() else {
      Issue.record("not published")
      return
    }
    try await client.publish("a", [2])
  }

  @Test func sendsAllThatWasAcceptedBeforeItDisconnects() async throws {
    let broker = try await Broker(globals: ["max_queued_messages 100000"])
    let reader = try await TestClient.connected(broker)
    try await reader.subscribe("a", qos: .exactlyOnce)
    let writer = try await TestClient.connected(broker)
    for number in 0..<300 {
      let qos = QoS.allCases[number % 3]
      try await writer.perform(.publish(Message(topic: "a", payload: [], qos: qos)))
    }
    try await writer.perform(.disconnect)
    #expect(
      await writer.refusal(.publish(Message(topic: "a", payload: [], qos: .atMostOnce)))
        == .notConnected)
    for _ in 0..<300 { _ = try await reader.message() }
    while case let event = try await writer.event(), event != .closed(.byUser) {}
  }
}
