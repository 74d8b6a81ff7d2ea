import RepriseCore

/// A user who does and reads by chance, the same on the same events.
enum RandomUser {
  /// Lives in a client for so many steps, and then reads what is on its way.
  /// - Returns: All events, but for the silence at the end.
  static func run(
    _ client: any DataClient, seed: UInt64, steps: Int = 60, inFrames: Bool = false
  ) async throws -> [ClientEvent] {
    var random = TestGenerator(seed)
    var user = Actor(client)
    var (isOpen, isIdle) = (false, true)
    var events: [ClientEvent] = []
    func read(_ deadline: Timestamp) async throws {
      let event = try await client.next(before: deadline)
      events.append(event)
      switch event {
      case .connected: (isOpen, isIdle) = (true, false)
      case .closed: (isOpen, isIdle) = (false, true)
      default: return
      }
    }
    for step in 0..<steps {
      let choice = Int.random(in: 0..<12, using: &random)
      let action =
        inFrames ? frame(choice, step, seed: seed) : message(choice, step, qos: qos(&random))
      if isIdle {
        let clean = seed.isMultiple(of: 2)
        try await user.do(
          .connect(
            inFrames ? ConnectOptions() : ConnectOptions(clientID: "random", cleanStart: clean)))
        isIdle = false
      } else if isOpen, let action {
        try await user.do(action)
        if case .disconnect = action { isOpen = false }
      } else {
        let wait = Int.random(in: 0..<2_000, using: &random)
        try await read(client.now.advanced(by: .milliseconds(wait)))
      }
    }
    let end = client.now.advanced(by: .seconds(100))
    repeat { try await read(end) } while events.last != .deadline && events.last != .ended
    // Behind the last traffic a replay says that it has ended, where a live world lets time pass.
    while events.last == .deadline || events.last == .ended { events.removeLast() }
    return events
  }

  private static func qos(_ random: inout TestGenerator) -> QoS {
    QoS.allCases.randomElement(using: &random) ?? .atMostOnce
  }

  /// What is done with messages; nil is to read.
  private static func message(_ choice: Int, _ step: Int, qos: QoS) -> ClientAction.Kind? {
    switch choice {
    case 0...2: .publish(Message("up/\(step)", #"{"step":\#(step)}"#, qos: qos))
    case 3: .subscribe([Subscription("echo", qos: qos), Subscription("refused")])
    case 4: .unsubscribe(["echo"])
    case 5 where step.isMultiple(of: 3): .disconnect
    default: nil
    }
  }

  /// What is done with text and bytes; nil is to read.
  private static func frame(_ choice: Int, _ step: Int, seed: UInt64) -> ClientAction.Kind? {
    switch choice {
    case 0...2: .sendText(#"{"uniqueId":\#(step),"ä":"\#(seed)"}"#)
    case 3: .sendBinary(Array(repeating: UInt8(step), count: step * 40))
    case 4 where step.isMultiple(of: 3): .disconnect
    default: nil
    }
  }
}
