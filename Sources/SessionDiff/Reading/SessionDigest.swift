package import RepriseCore
import Wire

/// What is kept of a session to find what differs in it: of each thing that was said three numbers.
///
/// What was said itself is read again where it differs, by ``SessionDetails``, so that memory does not depend on how
/// large messages are.
package struct SessionDigest: Sendable {
  /// Something that was said.
  struct Item: Sendable, Hashable {
    /// What it says.
    var exact: UInt64
    /// What it is about: its type with its topic or filters.
    var shape: UInt64
    /// What it is or carries: of messages the payload, of anything else the type.
    var kind: UInt64
    /// What answered it, all in all.
    var answers: UInt64 = 0
    /// Whether it tells one client from another, as what every client says does not.
    var isTelling = true
    /// Whether it is no thing that was said, but a place where bytes are missing.
    var isLoss = false
    /// Whether all that would come behind it is missing.
    var isCut = false
  }

  /// What is kept of a connection.
  struct Connection: Sendable {
    let number: Int
    /// What its client calls itself; nil where it has no name, or one that the server gave it.
    var clientID: String?
    /// What it speaks.
    var wire = ""
    /// Where it begins.
    var frame: Int
    var lanes: [[Item]] = [[], [], []]
  }

  /// Why a session can't be compared.
  package struct TooLarge: Error, CustomStringConvertible {
    /// What is wrong, and what to do.
    package let description =
      "it has more events than there is memory for to compare them; choose some by --client or --filter, "
      + "or add --memory 1G"
  }

  private var connections: [Connection] = []
  private var indices: [Int: Int] = [:]
  /// Nil while it reads, as what takes the readings changes what it belongs to.
  private var reader: SessionReader?
  private var forms: NormalForm
  private var items = 0
  /// Whether the session may have had connections that nobody knows of.
  private(set) var mayLackConnections = false
  private let mostItems: Int

  /// Creates the digest of a session of which nothing was read.
  /// - Parameters:
  ///   - options: What counts.
  ///   - memory: The most bytes that it takes.
  package init(_ options: DiffOptions, memory: Int) {
    reader = SessionReader(options)
    forms = NormalForm(options)
    mostItems = memory / MemoryLayout<Item>.stride
  }

  /// The connections of which something was chosen.
  var chosen: [Connection] { connections.filter { $0.lanes.contains { !$0.isEmpty } } }

  /// Takes the next event.
  /// - Parameters:
  ///   - event: The event.
  ///   - isSelected: Whether it is to be compared.
  /// - Throws: ``TooLarge``.
  package mutating func consume(_ event: borrowing EventView, isSelected: Bool) throws {
    let index = index(of: event)
    connections[index].note(event)
    guard var reader = reader.take() else { return }
    defer { self.reader = reader }
    try reader.read(event, isSelected: isSelected) { reading, event in
      if connections[index].keep(reading, forms.form(of: event, as: reading)) { items += 1 }
    }
    guard items <= mostItems else { throw TooLarge() }
  }

  /// Takes the news that whole connections may be missing.
  package mutating func lackConnections() { mayLackConnections = true }

  /// Takes the news that the session went on behind its last event: nobody knows what was said there.
  ///
  /// - Throws: ``TooLarge``.
  package mutating func endEarly() throws {
    mayLackConnections = true
    for index in connections.indices { items += connections[index].loseTheRest() }
    guard items <= mostItems else { throw TooLarge() }
  }

  /// Where the connection of an event is kept: also one of which nothing is chosen yet, as its name comes early.
  private mutating func index(of event: borrowing EventView) -> Int {
    let number = event.context.connection
    if let index = indices[number] { return index }
    connections.append(Connection(number: number, frame: event.context.frame))
    indices[number] = connections.count - 1
    items += MemoryLayout<Connection>.stride / MemoryLayout<Item>.stride + 2
    return connections.count - 1
  }
}

extension SessionDigest.Connection {
  /// Takes note of what it speaks and of its client's name.
  fileprivate mutating func note(_ event: borrowing EventView) {
    guard case .mqtt(let packet) = event.body else {
      // TLS is the wire of what could not be read through it.
      if wire.isEmpty || wire == "\(WireProtocol.tls.name)" {
        wire = event.context.wire.version == nil ? "\(event.context.wire.name)" : "mqtt"
      }
      return
    }
    wire = "mqtt"
    guard packet.type == .connect, clientID == nil, let connect = packet.connect,
      !connect.clientID.isEmpty
    else { return }
    clientID = String(copying: connect.clientID)
  }

  /// Loses what would be said from now on, if it was chosen and had not come to its end.
  /// - Returns: How many things it keeps for that.
  fileprivate mutating func loseTheRest() -> Int {
    let isOver = lanes[Lane.end.rawValue].contains { !$0.isLoss }
    guard !isOver, lanes.contains(where: { !$0.isEmpty }) else { return 0 }
    for lane in lanes.indices {
      var loss = SessionDigest.Item.loss(lanes[lane].count)
      loss.isCut = true
      lanes[lane].append(loss)
    }
    return lanes.count
  }

  /// Keeps what was said.
  /// - Returns: Whether it takes room.
  fileprivate mutating func keep(_ reading: Reading, _ form: JSONValue) -> Bool {
    switch reading.kind {
    case .item:
      lanes[reading.lane.rawValue].append(SessionDigest.Item(form))
      return true
    case .loss:
      lanes[reading.lane.rawValue].append(.loss(reading.index))
      return true
    case .answer:
      guard lanes[reading.lane.rawValue].indices.contains(reading.index) else { return false }
      var hash = Fingerprint()
      hash.add(lanes[reading.lane.rawValue][reading.index].answers)
      hash.add(form.fingerprint)
      lanes[reading.lane.rawValue][reading.index].answers = hash.value
      return false
    }
  }
}

extension SessionDigest.Item {
  private static let saidByAll: Set<String> = [
    "CONNECT", "CONNACK", "DISCONNECT", "PINGREQ", "PINGRESP", "CLOSE", "TLS",
  ]

  /// Creates what stands for bytes that are missing.
  /// - Parameter index: Where it stands, from 0.
  /// - Returns: The item.
  static func loss(_ index: Int) -> SessionDigest.Item {
    var item = SessionDigest.Item(.null)
    item.isLoss = true
    item.exact = UInt64(index)
    return item
  }

  /// Creates what is kept of something that was said.
  init(_ form: JSONValue) {
    let type = form["type"] ?? .null
    exact = form.fingerprint
    let about = ["topic", "filters", "method", "target"].map { form[$0] ?? .null }
    shape = JSONValue.array([type] + about).fingerprint
    isTelling = !Self.saidByAll.contains(type.text ?? "")
    kind = JSONValue.array([type, form["payload"] ?? .null]).fingerprint
  }
}

/// Reads the events of all connections of a session as what was said on them.
struct SessionReader {
  private let options: DiffOptions
  private var readers: [Int: ConnectionReader] = [:]

  init(_ options: DiffOptions) { self.options = options }

  mutating func read(
    _ event: borrowing EventView, isSelected: Bool,
    _ take: (Reading, borrowing EventView) throws -> Void
  ) throws {
    let number = event.context.connection
    // Taken out, so that it is changed in place; where reading throws nobody goes on.
    var reader = readers.removeValue(forKey: number) ?? ConnectionReader(start: event.context.time)
    try reader.read(event, isSelected: isSelected, options, take)
    if event.isLast { reader.forget() }
    readers[number] = reader
  }
}

extension EventView {
  /// Whether nothing comes behind it on its connection.
  fileprivate var isLast: Bool {
    switch body {
    case .closed, .attempted: true
    case .opened, .gap, .malformed, .mqtt, .handshake, .webSocket, .http, .tls: false
    }
  }
}
