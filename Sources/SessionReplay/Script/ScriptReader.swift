package import RepriseCore
import Wire

/// Gathers from a session that is being read what both ends of its connections do: of those of MQTT, where there are none
/// of those of WebSocket, and else what was asked over HTTP.
///
/// What is replayed is in memory, within a limit: a session that has more is replayed in parts.
package struct ScriptReader: EventConsumer, Sendable {
  /// Which connections are replayed.
  package struct Selection: Sendable {
    /// The numbers of the connections; none stands for all.
    package var numbers: Set<Int>
    /// The client identifier; nil stands for all.
    package var clientID: String?

    /// Creates a selection.
    package init(numbers: Set<Int> = [], clientID: String? = nil) {
      (self.numbers, self.clientID) = (numbers, clientID)
    }

    fileprivate var isAll: Bool { numbers.isEmpty && clientID == nil }
  }

  private let selection: Selection
  private var window: ReplayWindow
  private let limit: Int
  /// The bytes of all packets that are kept.
  private var size = 0
  private var order = 0
  private var numbers: [Int] = []
  private var connections: [Int: Gathered] = [:]
  private var requests: ExchangeReader
  /// The connections with something that can't be replayed.
  private var others: [Int: String] = [:]
  /// The time of the first step in the window.
  private var begin: Timestamp?

  /// What is known of a connection.
  private struct Gathered {
    var steps: [ScriptStep] = []
    var aliases: [Peer: AliasedTopics] = [:]
    /// The messages of WebSocket that are under way; nil where MQTT is spoken.
    var messages: [Peer: WebSocketAssembler]?
    /// Whether its CONNECT, or its request for WebSocket, says that it is wanted; nil as long as none has come.
    var isWanted: Bool?
    /// The first place where something is missing, and what.
    var damage: (place: ReplayPlace, what: String)?
    /// Whether somebody said farewell, behind which no end has to be told.
    var isLeft = false
    /// Whether anything of it is in the window.
    var isInside = false

    /// Whether it can be replayed, as far as its beginning and the window say.
    var isReplayed: Bool { isWanted == true && isInside }
  }

  /// Creates a reader that has seen nothing.
  /// - Parameters:
  ///   - selection: Which connections are replayed.
  ///   - window: Which time; what connections open and subscribe to before it is replayed in no time.
  ///   - limit: How many bytes the packets may take.
  package init(_ selection: Selection, within window: ReplayWindow, limit: Int) {
    (self.selection, self.window, self.limit) = (selection, window, limit)
    requests = ExchangeReader(limit: limit)
  }

  // MARK: Events

  package mutating func consume(_ event: borrowing EventView) {
    let context = event.context
    let side = window.side(of: context.time)
    guard side != .behind,
      selection.numbers.isEmpty || selection.numbers.contains(context.connection)
    else { return }
    if context.wire == .http { return takeHTTP(event, side) }
    switch event.body {
    case .mqtt(let packet): take(packet, context, side)
    case .closed(let closing): end(closing, context, side)
    case .gap(let gap): damage(context, side, Self.words(for: gap, context))
    case .malformed(let malformation): damage(context, side, malformation.message)
    case .handshake(let handshake): take(handshake, context, side)
    case .webSocket(let frame): take(frame, context, side)
    case .tls: others[context.connection] = "\(context.wire.name)"
    case .http, .opened, .attempted: return
    }
  }

  private mutating func takeHTTP(
    _ event: borrowing EventView, _ side: ReplayWindow.Side
  ) {
    let context = event.context
    // Names are given by MQTT alone.
    guard selection.clientID == nil else { return }
    if case .opened(let opening) = event.body { return requests.take(opening, context) }
    guard side == .inside else { return }
    switch event.body {
    case .http(let part): requests.take(part, context)
    case .closed(let closing): requests.take(closing, context)
    case .gap(let gap): requests.note(Self.words(for: gap, context), context)
    case .malformed(let malformation): requests.note(malformation.message, context)
    case .opened, .attempted, .mqtt, .handshake, .webSocket, .tls: return
    }
  }

  private static func words(for gap: Gap, _ context: EventContext) -> String {
    guard gap.reason != .altered else {
      return "a proxy altered what the \(context.sender.rawValue) sent"
    }
    let what = gap.reason == .leftOut ? "events" : "\(gap.bytes) bytes"
    return "\(what) of the \(context.sender.rawValue) are missing"
  }

  /// Takes what is known of a connection out, to be put back; a copy would grow with the connection.
  private mutating func remove(_ number: Int) -> Gathered {
    guard let one = connections.removeValue(forKey: number) else {
      numbers.append(number)
      return Gathered()
    }
    return one
  }

  // MARK: MQTT

  private mutating func take(
    _ view: borrowing MQTTPacketView, _ context: EventContext, _ side: ReplayWindow.Side
  ) {
    var one = remove(context.connection)
    defer { connections[context.connection] = one }
    if one.messages != nil {
      // What was taken for WebSocket alone carries MQTT.
      for step in one.steps { size -= step.unit?.size ?? 0 }
      let damage = one.damage
      one = Gathered()
      one.damage = damage
    }
    let packet = ReplayPacket(view, &one.aliases[context.sender, default: AliasedTopics()])
    if one.isWanted == nil { one.isWanted = wants(packet) }
    guard one.isWanted == true, size <= limit else { return }
    if view.missing > 0, one.damage == nil, side == .inside {
      one.damage = (ReplayPlace(context), "\(view.missing) bytes of the packet are missing")
    }
    if packet.type == .disconnect { one.isLeft = true }
    guard side == .inside || Self.opens(packet.type) else { return }
    say(.packet(packet), context, side, to: &one)
  }

  /// Whether a connection is wanted, by its first packet; nil where that is no CONNECT.
  private func wants(_ packet: ReplayPacket) -> Bool? {
    guard case .connect(let connect) = packet.decoded?.content else { return nil }
    return selection.clientID == nil || selection.clientID == connect.clientID
  }

  /// Whether a packet is one by which a connection comes to what it has later.
  private static func opens(_ type: MQTTPacketType) -> Bool {
    switch type {
    case .connect, .connack, .auth, .subscribe, .suback, .unsubscribe, .unsuback: true
    default: false
    }
  }

  // MARK: WebSocket

  private mutating func take(
    _ handshake: WebSocketHandshake, _ context: EventContext, _ side: ReplayWindow.Side
  ) {
    var one = remove(context.connection)
    defer { connections[context.connection] = one }
    one.messages = one.messages ?? [:]
    // Names are given by MQTT alone.
    if case .request = handshake, one.isWanted == nil { one.isWanted = selection.clientID == nil }
    guard one.isWanted == true, size <= limit else { return }
    say(.handshake(handshake), context, side, to: &one)
  }

  private mutating func take(
    _ frame: borrowing WebSocketFrameView, _ context: EventContext, _ side: ReplayWindow.Side
  ) {
    guard case .unknown = frame.cargo else { return }
    var one = remove(context.connection)
    defer { connections[context.connection] = one }
    one.messages = one.messages ?? [:]
    guard one.isWanted == true, size <= limit, !one.isLeft else { return }
    switch frame.opcode {
    // Pongs are sent as pings come.
    case .pong: return
    case .ping, .close:
      one.isLeft = frame.opcode == .close
      guard side == .inside else { return }
      say(
        .frame(WebSocketFrame(frame.opcode, Array(copying: frame.data))), context, side, to: &one)
    default:
      guard
        let message = one.messages?[context.sender, default: .init(limit: limit)].take(frame),
        side == .inside
      else { return }
      if !message.isComplete, one.damage == nil {
        one.damage = (ReplayPlace(context), "a part of a message is missing")
      }
      let whole = WebSocketFrame(message.isText ? .text : .binary, message.data)
      say(.frame(whole), context, side, to: &one)
    }
  }

  // MARK: Steps

  private mutating func say(
    _ unit: ReplayUnit, _ context: EventContext, _ side: ReplayWindow.Side, to one: inout Gathered
  ) {
    size += unit.size
    add(.said(unit), context, side, to: &one)
  }

  private mutating func end(
    _ closing: ConnectionClosing, _ context: EventContext, _ side: ReplayWindow.Side
  ) {
    // A capture that ends shows no end, and behind DISCONNECT either end may be the first to go.
    guard var one = connections[context.connection], closing.how != .endOfCapture, !one.isLeft,
      one.isWanted == true
    else { return }
    guard side == .inside else { return connections[context.connection] = nil }
    add(.end(closing.how), context, side, to: &one)
    connections[context.connection] = one
  }

  private mutating func add(
    _ content: ScriptStep.Content, _ context: EventContext, _ side: ReplayWindow.Side,
    to one: inout Gathered
  ) {
    if side == .inside {
      begin = begin ?? context.time
      one.isInside = true
    }
    one.steps.append(
      ScriptStep(
        place: ReplayPlace(context), order: order, sender: context.sender, content: content,
        time: context.time))
    order += 1
  }

  private mutating func damage(
    _ context: EventContext, _ side: ReplayWindow.Side, _ what: String
  ) {
    guard side == .inside, connections[context.connection]?.damage == nil else { return }
    connections[context.connection]?.damage = (ReplayPlace(context), what)
  }

  // MARK: The script

  /// Makes the script of what was gathered.
  /// - Returns: The script.
  /// - Throws: `DataClientError` where nothing can be replayed, or something of it is missing.
  package func script() throws(DataClientError) -> SessionScript {
    guard size <= limit else { throw tooLarge }
    var scripts: [ConnectionScript] = []
    var left = LeftOut()
    left.others = others.keys.filter { connections[$0] == nil }.sorted()
    let isMQTT = connections.values.contains { $0.messages == nil && $0.isReplayed }
    for number in numbers {
      guard let one = connections[number] else { continue }
      guard one.isWanted != nil else {
        left.headless.append(number)
        continue
      }
      guard one.isReplayed else { continue }
      guard (one.messages == nil) == isMQTT else {
        left.sockets.append(number)
        continue
      }
      if let damage = one.damage { throw Self.damaged(damage) }
      if let script = ConnectionScript(number, hurried(one.steps)) { scripts.append(script) }
    }
    left.isMQTT = isMQTT
    guard !scripts.isEmpty else { return try script(ofRequests: left) }
    left.requests = requests.numbers
    return SessionScript(scripts, notes: left.notes)
  }

  /// Makes the script of what was asked over HTTP.
  private func script(ofRequests left: LeftOut) throws(DataClientError) -> SessionScript {
    guard !requests.isFull else { throw tooLarge }
    guard !requests.exchanges.isEmpty else { throw nothing(left) }
    if let damage = requests.damage { throw Self.damaged(damage) }
    return SessionScript(requests.exchanges, notes: left.notes)
  }

  private var tooLarge: DataClientError {
    DataClientError(
      .unreadable,
      "it has more packets than \(limit >> 20) MiB hold; choose a part by --connection, --from and "
        + "--to, or add --memory")
  }

  /// The connections that are not replayed.
  private struct LeftOut {
    /// Those whose beginning is not there.
    var headless: [Int] = []
    /// Those of WebSocket, beside others of MQTT.
    var sockets: [Int] = []
    /// Those of HTTP, beside others that are replayed.
    var requests: [Int] = []
    /// Those of something else.
    var others: [Int] = []
    /// Whether MQTT is replayed.
    var isMQTT = false

    /// What is said of them, one sentence each.
    var notes: [String] {
      var notes: [String] = []
      if !headless.isEmpty {
        notes.append("not replayed as their beginning is not there: \(Self.list(headless))")
      }
      if !sockets.isEmpty {
        notes.append(
          "not replayed as they are WebSocket beside MQTT, which is another server: "
            + "\(Self.list(sockets)); choose them by --connection")
      }
      if !requests.isEmpty {
        notes.append(
          "not replayed as they are HTTP beside \(isMQTT ? "MQTT" : "WebSocket"), which is another "
            + "server: \(Self.list(requests)); choose them by --connection")
      }
      if !others.isEmpty {
        notes.append("not replayed as they are no MQTT: \(Self.list(others))")
      }
      return notes
    }

    private static func list(_ numbers: [Int]) -> String {
      let shown = numbers.prefix(5).map(String.init).joined(separator: ", ")
      return (numbers.count == 1 ? "connection " : "connections ") + shown
        + (numbers.count > 5 ? " and \(numbers.count - 5) more" : "")
    }
  }

  /// Steps of before the window happen at once at its beginning.
  private func hurried(_ steps: [ScriptStep]) -> [ScriptStep] {
    guard let begin else { return steps }
    return steps.map { step in
      var step = step
      step.time = max(step.time, begin)
      return step
    }
  }

  private static func damaged(_ damage: (place: ReplayPlace, what: String)) -> DataClientError {
    DataClientError(
      .unreadable,
      "\(damage.what) at \(damage.place), so it can't be replayed; choose other connections by "
        + "--connection, or begin behind it by --from")
  }

  private func nothing(_ left: LeftOut) -> DataClientError {
    if let first = left.headless.first {
      let beginning = connections[first]?.messages == nil ? "CONNECT" : "request for WebSocket"
      return DataClientError(
        .unreadable,
        "connection \(first) begins before the session does, without its \(beginning), so it can't "
          + "be replayed; capture it from its beginning")
    }
    if let other = others.min(by: { $0.key < $1.key }), connections.isEmpty {
      return DataClientError(
        .unreadable,
        "connection \(other.key) speaks \(other.value), and only connections of MQTT, WebSocket and "
          + "HTTP can be replayed so; name the keys of TLS: --keylog FILE")
    }
    let what = selection.isAll ? "connection" : "such connection"
    return DataClientError(
      .unreadable,
      "it has no \(what) of MQTT, WebSocket or HTTP, or none in the time that was asked for; reprise "
        + "inspect shows all, and --decode PORT=http is for HTTP")
  }
}
