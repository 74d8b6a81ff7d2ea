import Glibc
import LiveClient
import RepriseCore
import Wire

/// The other end of a WebSocket that is driven by a case: clients of a server, or a server for a client.
final class WebSocketWorld: CaseWorld {
  private let plan: CasePlan
  private let subject: WebSocketSubject
  private let recorder: CaseRecorder
  /// All connections, of which steps use the last that was opened.
  private var ends: [WebSocketEnd] = []
  private var current: WebSocketEnd?
  /// Whether the connection of a step was begun, and is waited for.
  private var isBegun = false
  /// What clients connect to; nil before the first step that waits for one, and behind the last of those.
  private var listener: TCPSocket?
  private var started: CommandProcess?
  /// How many requests of clients are still to be answered by steps.
  private var meetings: Int

  /// How long a connection and the answer to a request are waited for: a command has to be started first, and a client
  /// that connects by itself may wait before it does so again.
  private static let patience = (started: Duration.seconds(10), own: Duration.seconds(60))

  /// Prepares an end of a case.
  /// - Parameters:
  ///   - plan: The case.
  ///   - subject: What is driven.
  ///   - recorder: Keeps what passes.
  init(_ plan: CasePlan, _ subject: WebSocketSubject, _ recorder: CaseRecorder) {
    (self.plan, self.subject, self.recorder) = (plan, subject, recorder)
    meetings = plan.steps.count { [.accept, .open].contains($0.action) }
  }

  /// The request of the first connection, and its answer.
  var firstHandshake: (request: WebSocketRequest?, response: WebSocketResponse?) {
    (ends.first?.request, ends.first?.response)
  }

  func value(of name: Substring) -> JSONValue? { nil }

  // MARK: The driver's turns

  var interests: [pollfd] {
    let file = listener.map { pollfd(fd: $0.number, events: Int16(POLLIN), revents: 0) }
    return [file ?? pollfd(fd: -1, events: 0, revents: 0)] + ends.map(\.stream.interest)
  }

  var wakeTime: Timestamp? { ends.compactMap(\.stream.wakeTime).min() }

  func service(_ events: ArraySlice<pollfd>, _ buffer: inout [UInt8], _ now: Timestamp) {
    for (end, file) in zip(ends, events.dropFirst()) where file.revents != 0 {
      end.stream.service(file.revents, &buffer, now) { end.take($0, now) }
    }
    guard events.first?.revents != 0, case .client(_, let place) = subject else { return }
    while let socket = try? listener?.accept() {
      let stream = CaseStream(
        ends.count + 1, from: socket, security: place.security, shownPort: 80, recorder,
        plan.cut?.chopping)
      ends.append(WebSocketEnd(stream))
    }
  }

  func goOn(_ now: Timestamp) {
    for end in ends { end.stream.goOn(now) }
  }

  func leave(_ now: Timestamp) -> CaseWait {
    for end in ends {
      if end.isOpen {
        end.close(1_000, now)
      } else {
        end.stream.finish(now)
      }
    }
    return CaseWait(until: now.advanced(by: CaseWait.shortWait)) { [self] in
      ends.allSatisfy(\.stream.isOver)
    }
  }

  func breakOff(_ now: Timestamp) {
    for end in ends { end.stream.reset(now) }
    listener = nil
    started?.kill()
    started = nil
  }

  // MARK: Steps

  func perform(
    _ step: CaseStep, _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    if [.open, .connect, .accept].contains(step.action) { return try begin(fields, now) }
    guard let end = current else {
      throw DriverError(.badCase, "\(step.place): no step before has opened a connection")
    }
    switch step.action {
    case .frame:
      end.send(
        try fields.frame(maskedBy: end.maskingKey), inPiecesOf: try fields.pieces(), now)
    case .message: return try send(fields, by: end, now)
    case .bytes:
      end.stream.send(try fields.rawBytes(), inPiecesOf: try fields.pieces(), now)
    case .await: return .waiting(try listen(fields, end, now))
    case .fence: return .waiting(try fence(fields, end, now))
    case .hold: end.held = try fields.held()
    case .close: return .waiting(try close(fields, end, now))
    case .finish: end.stream.finish(now)
    case .reset: end.stream.reset(now)
    case .open, .connect, .accept, .wait: break
    case .subscribe, .unsubscribe, .publish, .send, .release, .disconnect: break
    }
    return .done
  }

  private func send(
    _ fields: CaseFields, by end: WebSocketEnd, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    let count = try fields.integer("repeat", in: 1...1_000) ?? 1
    let heard = end.hearsMessages(count: count)
    for _ in 0..<count {
      let frames = try fields.messageFrames(maskedBy: { end.maskingKey }, end.deflated)
      for frame in frames { end.send(frame, inPiecesOf: try fields.pieces(), now) }
    }
    guard try fields.flag("await") ?? true else { return .done }
    let until = now.advanced(by: try fields.seconds(orElse: 2))
    return .waiting(CaseWait(until: until, heard))
  }

  private func listen(
    _ fields: CaseFields, _ end: WebSocketEnd, _ now: Timestamp
  ) throws(DriverError) -> CaseWait {
    let until = now.advanced(by: try fields.seconds(orElse: 2))
    guard let type = fields["type"] else {
      return CaseWait(until: until) { end.stream.isOver || end.stream.hasEnded }
    }
    let count = try fields.integer("count", in: 1...100_000) ?? 1
    if type.text == "MESSAGE" { return CaseWait(until: until, end.hearsMessages(count: count)) }
    let opcode = try fields.opcode(orElse: nil)
    return CaseWait(until: until, end.hears(opcode, count: count))
  }

  /// Asks by a Ping whether the other end goes on, and waits for the Pong or for its leaving.
  private func fence(
    _ fields: CaseFields, _ end: WebSocketEnd, _ now: Timestamp
  ) throws(DriverError) -> CaseWait {
    guard end.isOpen, !end.hasClosed else { return .time(until: now) }
    let data = end.ping(now)
    let isOver = { end.hasHeardPong(data) || end.isClosed || end.isGone }
    if fields["seconds"] != nil {
      return CaseWait(until: now.advanced(by: try fields.seconds(orElse: 2)), isOver)
    }
    // That a Pong is missing shows only where something else comes.
    return CaseWait(
      until: now.advanced(by: CaseWait.patience),
      proof: { later in
        guard end.isOpen, !end.hasClosed else { return nil }
        end.send(WebSocketFrame(.text, Array("message".utf8), maskingKey: end.maskingKey), later)
        return CaseWait(
          until: later.advanced(by: CaseWait.shortWait), end.hearsMessages(count: 1))
      }, isOver)
  }

  /// Closes in good order, and waits for the end of the connection.
  private func close(
    _ fields: CaseFields, _ end: WebSocketEnd, _ now: Timestamp
  ) throws(DriverError) -> CaseWait {
    let body = try fields.closeBody() ?? [0x03, 0xE8]
    if !end.hasClosed { end.send(WebSocketFrame(.close, body, maskingKey: end.maskingKey), now) }
    return CaseWait(
      until: now.advanced(by: CaseWait.patience),
      proof: { later in
        guard end.isOpen, !end.isClosed else { return nil }
        let data = end.ping(later)
        return CaseWait(until: later.advanced(by: CaseWait.shortWait)) {
          end.hasHeardPong(data) || end.isGone
        }
      }
    ) { end.isGone }
  }

  // MARK: Beginning

  /// Opens a connection, or answers one that was opened; done again when there is something to go on with.
  private func begin(
    _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    switch subject {
    case .server(let place): try connect(to: place, fields, now)
    case .client(let command, let place): try accept(from: command, at: place, fields, now)
    }
  }

  private func connect(
    to place: BrokerPlace, _ fields: CaseFields, _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    guard !isBegun else {
      isBegun = false
      try checkIsReached(place)
      return .done
    }
    guard let target = place.webSocket else {
      throw DriverError(.badCase, "\(place.name) is no address of WebSocket")
    }
    let key = WebSocketKey.encoded((0..<16).map { _ in UInt8.random(in: 0...255) })
    let head = try fields.request(of: target, key: key)
    let stream: CaseStream
    do throws(DataClientError) {
      stream = try CaseStream(ends.count + 1, to: place, recorder, plan.cut?.chopping)
    } catch {
      throw Self.unreachable(place.name, error.message)
    }
    let end = WebSocketEnd(stream)
    ends.append(end)
    current = end
    end.ask(head, now)
    guard try fields.flag("await") ?? true else { return .done }
    isBegun = true
    return .again(CaseWait(until: now.advanced(by: Self.patience.started)) { end.isAnswered })
  }

  private func checkIsReached(_ place: BrokerPlace) throws(DriverError) {
    switch current?.stream.phase {
    case .opening: throw Self.unreachable(place.name, "no answer in 10 s")
    case .over(let why?): throw Self.unreachable(place.name, why)
    case .open, .over(nil), nil: return
    }
  }

  private static func unreachable(_ name: String, _ why: String) -> DriverError {
    DriverError(.unreachable, "\(name) can't be reached: \(why); check whether it runs there")
  }

  private func accept(
    from command: ClientCommand?, at place: ClientPlace, _ fields: CaseFields,
    _ now: Timestamp
  ) throws(DriverError) -> CaseProgress {
    try listen(for: command, at: place)
    guard let next = ends.first(where: { $0.request != nil && $0.response == nil }) else {
      guard !isBegun else {
        isBegun = false
        throw DriverError(.unreachable, absence(of: command))
      }
      isBegun = true
      let patience = command == nil ? Self.patience.own : Self.patience.started
      return .again(
        CaseWait(until: now.advanced(by: patience)) { [self] in
          ends.contains { $0.request != nil && $0.response == nil } || started?.isRunning == false
        })
    }
    (isBegun, current) = (false, next)
    meetings -= 1
    // One that comes back is for the next case.
    if meetings == 0 { listener = nil }
    next.answer(try fields.answer(to: next.request), now)
    return .done
  }

  private func absence(of command: ClientCommand?) -> String {
    guard let command else { return "the client asks for no WebSocket in 60 s" }
    let end = started?.endedBy.map { "; it ended with \($0)" } ?? ""
    return "\(command.text) asks for no WebSocket in 10 s\(end); check that it uses {url}"
  }

  /// Listens, and starts the client.
  private func listen(
    for command: ClientCommand?, at place: ClientPlace
  ) throws(DriverError) {
    guard listener == nil, ends.isEmpty else { return }
    let port: UInt16
    do throws(DataClientError) { (listener, port) = try place.socket() } catch {
      throw DriverError(.unreachable, error.message)
    }
    guard let command, place.listener == nil else { return }
    started = try CommandProcess(command.filled(at: place, port, scheme: "ws", path: "/"))
  }
}
