import RepriseCore
import Testing

@testable import DeviceSDK

/// Which member gets what on a shared session: the pure part.
@Suite struct SessionRouterTests {
  /// A session with an owner on seat 0 and a rider on seat 1, and what they are told in lines.
  private struct Bench {
    var router = SessionRouter()
    var lastID: UInt32 = 100

    init() {
      #expect(router.join(isOwner: true) == 0)
      #expect(router.join(isOwner: false) == 1)
    }

    static func connected() throws -> Bench {
      var bench = Bench()
      _ = try bench.act(0, .connect(ConnectOptions(clientID: "owner")))
      _ = try bench.act(1, .connect(ConnectOptions(clientID: "rider")))
      _ = bench.event(.connected(.init()))
      return bench
    }

    /// Performs an action; a line for what is sent, and lines for what is told.
    mutating func act(_ seat: Int, _ kind: ClientAction.Kind) throws -> [String] {
      lastID += 1
      let action = ClientAction(ClientAction.ID(rawValue: lastID), kind)
      let outcome = try router.perform(action, of: seat)
      let sent = outcome.forwarded.map { ["\($0.id.rawValue) \(Self.text($0.kind))"] } ?? []
      return sent + outcome.told.map(Self.text)
    }

    mutating func event(_ event: ClientEvent) -> [String] {
      router.receive(event).map(Self.text)
    }

    static func text(_ kind: ClientAction.Kind) -> String {
      switch kind {
      case .connect(let options): "connect \(options.clientID)"
      case .subscribe(let wishes):
        "subscribe " + wishes.map { "\($0.filter)@\($0.qos.rawValue)" }.joined(separator: " ")
      case .unsubscribe(let filters): "unsubscribe " + filters.joined(separator: " ")
      case .publish(let message): "publish \(message.topic)"
      case .send(let request): "send \(request.path)"
      case .sendText, .sendBinary: "send"
      case .disconnect: "disconnect"
      }
    }

    static func text(_ output: SessionRouter.Output) -> String {
      let event =
        switch output.event {
        case .connected(let connected): "connected \(connected.isSessionPresent)"
        case .subscribed(let id, let granted): "subscribed \(id.rawValue) \(granted.count)"
        case .unsubscribed(let id): "unsubscribed \(id.rawValue)"
        case .published(let id): "published \(id.rawValue)"
        case .message(let message): "message \(message.topic)"
        case .response(let id, _): "response \(id.rawValue)"
        case .failed(let id, _): "failed \(id.rawValue)"
        case .closed(.byUser): "closed"
        case .closed(.refused(let code)): "refused \(code)"
        case .closed(.byServer(let code, let reason)):
          "closed by the server \(code.map { "\($0)" } ?? "-") \(reason)"
        case .closed(.lost(let reason)): "lost \(reason)"
        case .closed(.unreached(let reason, _)): "unreached \(reason)"
        case .text, .binary, .deadline, .woken, .ended: "\(output.event)"
        }
      return "\(output.seat): \(event)"
    }
  }

  private func message(_ topic: String) -> ClientEvent {
    .message(Message(topic: topic, payload: []))
  }

  /// SDK-gateway-2.
  @Test func sendsOneConnect() throws {
    var bench = Bench()
    #expect(try bench.act(1, .connect(ConnectOptions(clientID: "rider"))) == [])
    #expect(try bench.act(0, .connect(ConnectOptions(clientID: "owner"))) == ["1 connect owner"])
    let told = bench.event(.connected(.init(isSessionPresent: true)))
    #expect(told == ["0: connected true", "1: connected true"])
    #expect(bench.router.join(isOwner: false) == 2)
    #expect(try bench.act(2, .connect(ConnectOptions())) == ["2: connected true"])
  }

  @Test(arguments: [0, 1])
  func refusesASecondConnect(seat: Int) throws {
    var bench = try Bench.connected()
    let error = #expect(throws: DataClientError.self) {
      try bench.act(seat, .connect(ConnectOptions()))
    }
    #expect(error?.code == .invalidAction)
  }

  @Test(arguments: [
    ClientAction.Kind.publish(Message(topic: "a", payload: [])), .subscribe([Subscription("a")]),
    .unsubscribe(["a"]), .disconnect,
  ])
  func needsAConnection(kind: ClientAction.Kind) throws {
    for seat in [0, 1] {
      var bench = Bench()
      let error = #expect(throws: DataClientError.self) { try bench.act(seat, kind) }
      #expect(error?.code == .notConnected)
    }
  }

  /// SDK-gateway-3.
  @Test func answersWhoAsked() throws {
    var bench = try Bench.connected()
    #expect(try bench.act(0, .publish(Message(topic: "a", payload: []))) == ["2 publish a"])
    #expect(try bench.act(1, .publish(Message(topic: "b", payload: []))) == ["3 publish b"])
    #expect(bench.event(.published(.init(rawValue: 3))) == ["1: published 104"])
    #expect(bench.event(.published(.init(rawValue: 2))) == ["0: published 103"])
    #expect(bench.event(.published(.init(rawValue: 2))) == [])
  }

  /// SDK-gateway-3.
  @Test func givesMessagesToWhoWantsThem() throws {
    var bench = try Bench.connected()
    _ = try bench.act(0, .subscribe([Subscription("app/#")]))
    _ = try bench.act(1, .subscribe([Subscription("gateway/+"), Subscription("app/x")]))
    #expect(bench.event(message("app/y")) == ["0: message app/y"])
    #expect(bench.event(message("app/x")) == ["0: message app/x", "1: message app/x"])
    #expect(bench.event(message("gateway/x")) == ["1: message gateway/x"])
    // No member asked for it, so it is every member's.
    #expect(bench.event(message("push")) == ["0: message push", "1: message push"])
  }

  @Test func forgetsWhatIsNotGranted() throws {
    var bench = try Bench.connected()
    _ = try bench.act(0, .subscribe([Subscription("a")]))
    #expect(try bench.act(1, .subscribe([Subscription("a")])) == ["3 subscribe a@1"])
    #expect(bench.event(.subscribed(.init(rawValue: 3), [nil])) == ["1: subscribed 104 1"])
    #expect(bench.event(message("a")) == ["0: message a"])
  }

  @Test func asksForTheHighestQoSOfAll() throws {
    var bench = try Bench.connected()
    _ = try bench.act(0, .subscribe([Subscription("a", qos: .exactlyOnce)]))
    let lines = try bench.act(1, .subscribe([Subscription("a", qos: .atMostOnce)]))
    #expect(lines == ["3 subscribe a@2"])
  }

  @Test func takesAFilterBackWhenNobodyWantsIt() throws {
    var bench = try Bench.connected()
    _ = try bench.act(0, .subscribe([Subscription("a")]))
    _ = try bench.act(1, .subscribe([Subscription("a"), Subscription("b")]))
    #expect(try bench.act(1, .unsubscribe(["a", "b"])) == ["4 unsubscribe b"])
    #expect(try bench.act(1, .unsubscribe(["a"])) == ["1: unsubscribed 106"])
    #expect(try bench.act(0, .unsubscribe(["a"])) == ["5 unsubscribe a"])
    #expect(bench.event(.unsubscribed(.init(rawValue: 4))) == ["1: unsubscribed 105"])
  }

  @Test func losesTheConnectionForAll() throws {
    var bench = try Bench.connected()
    _ = try bench.act(1, .subscribe([Subscription("b")]))
    #expect(bench.event(.closed(.lost("x"))) == ["0: lost x", "1: lost x"])
    #expect(bench.event(.subscribed(.init(rawValue: 2), [.atLeastOnce])) == [])
    #expect(bench.event(message("b")) == [])
    #expect(try bench.act(1, .connect(ConnectOptions())) == [])
    #expect(try bench.act(0, .connect(ConnectOptions(clientID: "o"))) == ["3 connect o"])
    #expect(bench.event(.closed(.refused(code: 3))) == ["0: refused 3", "1: refused 3"])
  }

  @Test func letsARiderGo() throws {
    var bench = try Bench.connected()
    _ = try bench.act(0, .subscribe([Subscription("a")]))
    _ = try bench.act(1, .subscribe([Subscription("a"), Subscription("b")]))
    #expect(try bench.act(1, .disconnect) == ["4 unsubscribe b", "1: closed"])
    #expect(bench.event(.subscribed(.init(rawValue: 3), [.atLeastOnce, .atLeastOnce])) == [])
    #expect(bench.event(message("b")) == ["0: message b"])
    #expect(try bench.act(1, .connect(ConnectOptions())) == ["1: connected false"])
  }

  @Test func closesForAllWhenTheOwnerGoes() throws {
    var bench = try Bench.connected()
    #expect(try bench.act(0, .disconnect) == ["2 disconnect"])
    #expect(
      bench.event(.closed(.byUser)) == [
        "0: closed", "1: lost the owner of the session has closed it",
      ])
  }

  @Test func undoesWhatWasNotSent() throws {
    var bench = try Bench.connected()
    _ = try bench.act(0, .subscribe([Subscription("a")]))
    _ = try bench.act(1, .subscribe([Subscription("a")]))
    bench.router.takeBack(.init(rawValue: 3))
    #expect(bench.event(message("a")) == ["0: message a"])
    _ = try bench.act(0, .disconnect)
    bench.router.takeBack(.init(rawValue: 4))
    #expect(try bench.act(0, .publish(Message(topic: "a", payload: []))) == ["5 publish a"])
    var other = Bench()
    _ = try other.act(0, .connect(ConnectOptions(clientID: "o")))
    other.router.takeBack(.init(rawValue: 1))
    #expect(try other.act(0, .connect(ConnectOptions(clientID: "o"))) == ["2 connect o"])
  }

  @Test func tellsTheEndToAllAndNothingToWhoLeft() throws {
    var bench = try Bench.connected()
    #expect(bench.event(.ended) == ["0: ended", "1: ended"])
    _ = try bench.act(1, .publish(Message(topic: "a", payload: [])))
    bench.router.leave(1)
    #expect(bench.event(.published(.init(rawValue: 2))) == [])
    #expect(bench.event(message("a")) == ["0: message a"])
    #expect(throws: DataClientError.self) { try bench.act(1, .disconnect) }
  }
}
