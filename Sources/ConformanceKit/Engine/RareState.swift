internal import Wire

/// What the rules need to know of few connections: of those that WebSocket carries, and of those on which
/// something is wrong.
struct RareState {
  /// What is known of the WebSocket that carries the connection, if one does.
  var webSocket: WebSocketState
  var carriage = MQTTCarriage()
  var offence: Offence?
  var enforcement = Enforcement()
  var suspicions = Suspicions()
  /// What holds only if no packet of the server was lost before.
  var suspicionsOfServer = Suspicions()
  /// The messages that were acknowledged with an error (5.0).
  var refused: [RefusedMessage] = []
  /// The last message to the client, if it is one of several copies (5.0).
  var lastCopy: NumberedCopy?

  /// The memory that it takes, in bytes.
  var reserved: Int {
    MemoryLayout<RareState>.stride + suspicions.reserved + suspicionsOfServer.reserved
      + webSocket.reserved + refused.grownSize
  }
}

/// A value behind a reference, so that one that is not there takes no room; copies share it until one of
/// them is changed.
final class Boxed<Value> {
  // Its holders change it one after the other: to look after that at each access costs more than most rules.
  @exclusivity(unchecked) fileprivate(set) var value: Value

  init(_ value: Value) { self.value = value }

  /// Changes the value; its holder is the only one.
  @inline(__always)
  func change(_ body: (inout Value) -> Void) { body(&value) }
}

extension ConnectionState {
  /// What few connections need, to be changed: it is made where it is not there.
  var ownRare: RareState {
    get { rare?.value ?? unmetRare }
    @inline(__always) _modify {
      let box = ownBox()
      yield &box.value
    }
  }

  /// Notes that WebSocket carries the connection.
  mutating func meetCarrier() {
    if rare == nil { rare = Boxed(unmetRare) }
  }

  /// The state of a connection that was as others are until now.
  private var unmetRare: RareState {
    RareState(
      webSocket: WebSocketState(
        isRemade: givenUp != nil, clockDoubt: clocks.differ ? clocks.doubt : nil))
  }

  @inline(__always)
  private mutating func ownBox() -> Boxed<RareState> {
    if isKnownUniquelyReferenced(&rare), let rare { return rare }
    let box = Boxed(ownRare)
    rare = box
    return box
  }
}
