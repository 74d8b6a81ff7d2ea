import RepriseCore
import Wire

/// Hands events on, and numbers connections in the order in which they are recognised.
///
/// Events go to a closure, or in batches through a pipe. Only the traffic of one session reaches it, event after event.
final class SessionEmitter {
  typealias Take = (borrowing EventView) throws -> Void

  private let take: Take
  private let pipe: EventPipe?
  /// Notes where secrets stand, where that is wanted.
  @exclusivity(unchecked) var secrets: StreamSecrets?
  @exclusivity(unchecked) private var batch = EventBatch()
  /// What the closure threw; kept, because it is called from places that can't throw.
  @exclusivity(unchecked) private(set) var failure: (any Error)?
  /// Whether nobody wants more events.
  @exclusivity(unchecked) private(set) var isOver = false
  /// The bytes in all GAPs that were handed on: what connections of no interest lack, nobody sees.
  private(set) var gaps = GapTotals()
  /// The number of connections that have a number so far.
  private var connections = 0
  /// How many of them are something that is decoded.
  private(set) var recognised = 0

  /// Creates what hands events to a closure.
  init(_ take: @escaping Take) {
    self.take = take
    pipe = nil
  }

  /// Creates what sends events through a pipe.
  init(_ pipe: EventPipe) {
    take = { _ in }
    self.pipe = pipe
  }

  /// Hands an event on.
  func emit(_ event: borrowing EventView) {
    guard !isOver else { return }
    if case .gap(let gap) = event.body { gaps.add(gap, at: event.context.time) }
    guard pipe == nil else {
      batch.append(event)
      return sendIfFull()
    }
    do { try take(event) } catch { end(error) }
  }

  /// Hands a control packet on.
  @inline(__always)
  func emit(_ context: EventContext, packet: RawSpan, _ header: MQTTFixedHeader) {
    guard !isOver else { return }
    let version = context.wire.version ?? .v3_1_1
    let view = MQTTPacketView(packet, header: header, version: version)
    guard pipe == nil else {
      batch.append(context, view)
      return sendIfFull()
    }
    do { try take(EventView(context, .mqtt(view))) } catch { end(error) }
  }

  /// Sends what is left of the events.
  func finish() {
    guard !batch.isEmpty else { return }
    send()
  }

  @inline(__always)
  private func sendIfFull() {
    if batch.isFull { send() }
  }

  private func send() {
    guard let pipe, !pipe.send(&batch) else { return }
    isOver = true
  }

  private func end(_ error: any Error) {
    failure = error
    isOver = true
  }

  /// Numbers a connection and tells that it was recognised.
  func open(_ connection: SessionConnection, _ arrival: Arrival, evidence: String?) {
    recognised += 1
    number(connection)
    let opening = connection.opening
    let isFirstClient = connection.client == .first
    let body = ConnectionOpening(
      client: (isFirstClient ? opening.first : opening.second).description,
      server: (isFirstClient ? opening.second : opening.first).description,
      isFromStart: opening.isFromStart, firstFrame: opening.arrival.frame,
      firstTime: opening.arrival.time,
      evidence: connection.proxyHeader.map { $0.evidence(evidence) } ?? evidence)
    let direction = Direction(connection, connection.client, arrival)
    emit(EventView(direction.carrierContext, .opened(body)))
    for side in connection.altered { emitAlteration(Direction(connection, side, arrival)) }
    guard !connection.preface.isEmpty else { return }
    for var event in connection.preface {
      event.context.connection = connection.number
      event.withView { emit($0) }
    }
    connection.preface = []
  }

  /// Gives a connection the next number.
  @discardableResult
  func number(_ connection: SessionConnection) -> Int {
    connections += 1
    connection.number = connections
    connection.noteKind()
    return connections
  }

  /// Numbers a connection that has no number yet, and tells that it was recognised.
  func openIfNew(_ direction: Direction) {
    guard direction.connection.number == 0 else { return }
    open(direction.connection, direction.arrival, evidence: nil)
  }

  func emitGap(
    _ count: Int, _ reason: Gap.Reason, _ direction: Direction
  ) {
    let gap = Gap(bytes: count, reason: reason)
    emit(EventView(direction.carrierContext, .gap(gap)))
  }

  /// Tells that the other end did not get what a side sends from here on, unless that is told where the connection opens.
  func emitAlteration(_ direction: Direction) {
    // Of one that speaks TLS, what is decrypted is told.
    guard direction.connection.number > 0, direction.connection.stage != .tls else { return }
    emitGap(0, .altered, direction)
  }

  func emitMalformation(
    _ malformation: Malformation, _ direction: Direction
  ) {
    emit(EventView(direction.carrierContext, .malformed(malformation)))
  }
}
