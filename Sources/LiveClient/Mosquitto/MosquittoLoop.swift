import Glibc
import RepriseCore

/// What the thread of a ``MosquittoClient`` does: it carries actions to the library and events
/// back.
final class MosquittoLoop {
  private let setup: MosquittoLink.Setup
  private let actions: ActionQueue
  private let events: EventQueue
  private let waker: Waker
  private let clock = LiveClock()
  /// The connection, open or being opened.
  private var link: MosquittoLink?
  /// By when the server has to accept it.
  private var answerDeadline = Timestamp(nanoseconds: 0)
  /// The last connection, when its session may be taken up again.
  private var resting: MosquittoLink?

  /// How many packets are read before actions get their turn.
  private static let packetsAtOnce = 64
  /// How many events of one reading make a stream, of which more is on its way.
  private static let streamLength = 8
  /// How long more of a stream is gathered before its user is told, in microseconds.
  ///
  /// Waking the user for every few messages, and the system acknowledging them one by one, costs more
  /// than the messages do; a single message, or a few, is told at once.
  private static let gatheringTime: useconds_t = 100
  /// How many bytes are handed to the library before they are written.
  private static let bytesAtOnce = 262_144

  /// Creates the work of a thread.
  init(_ setup: MosquittoLink.Setup, actions: ActionQueue, events: EventQueue, waker: Waker) {
    self.setup = setup
    self.actions = actions
    self.events = events
    self.waker = waker
  }

  /// Works until the client is gone; a connection that is still open is cut, and its will is sent.
  func run() {
    while true {
      let orders = actions.takeOrders()
      guard !orders.isStopped else { return }
      if let link, link.attempt != orders.attempt { abandon(link) }
      if let options = orders.options {
        open(orders.attempt, options)
        continue
      }
      let deadline = orders.closingDeadline ?? (link?.limits == nil ? answerDeadline : nil)
      if let link, let deadline, clock.milliseconds(until: deadline) == 0 {
        link.drop(orders.closingDeadline == nil ? .lost(link.silentText) : .byUser)
      } else {
        transmit()
        deliver()
        receive(until: deadline)
      }
      deliver()
    }
  }

  // MARK: - Opening and closing

  private func open(_ attempt: UInt64, _ options: ConnectOptions) {
    let earlier = resting.take()
    do throws(DataClientError) {
      let link: MosquittoLink
      if let earlier, earlier.hasUnfinishedMessages, !options.cleanStart,
        earlier.options.clientID == options.clientID
      {
        link = earlier
      } else {
        if let earlier { release(earlier) }
        link = try MosquittoLink(setup, options: options)
      }
      connect(link, attempt, options)
    } catch {
      if actions.closed(attempt) { events.append([.closed(.unreached(error.message))]) }
    }
  }

  /// - Parameters:
  ///   - link: The connection.
  ///   - attempt: The number of the attempt.
  ///   - options: What to connect with.
  ///   - wasReached: Whether the attempt has met the server before, whatever comes of it now.
  private func connect(
    _ link: MosquittoLink, _ attempt: UInt64, _ options: ConnectOptions, wasReached: Bool = false
  ) {
    guard actions.setBlocked(true) else { return }
    link.connect(attempt, options)
    if wasReached { link.noteReached() }
    actions.setBlocked(false)
    answerDeadline = clock.now.advanced(by: setup.patience)
    self.link = link
    deliver()
  }

  /// Leaves a connection that nobody asks for any more, with a farewell: the server may have accepted it, and
  /// would send the will.
  private func abandon(_ link: MosquittoLink) {
    if link.ending == nil {
      link.disconnect()
      link.write()
    }
    link.drop(.byUser)
    link.events = []
    link.eventBytes = 0
    actions.release(link.forget())
    if link.isResumable { resting = link }
    self.link = nil
  }

  /// Starts the session anew at this end too, when the server has forgotten it (MQTT 5.0 section
  /// 3.2.2.1.1).
  ///
  /// The library would go on with what it remembers, and take new packet identifiers for old ones.
  /// It can only forget together with the connection, so the connection is opened once more.
  private func renew(_ link: MosquittoLink) {
    link.disconnect()
    link.write()
    release(link)
    do throws(DataClientError) {
      let fresh = try MosquittoLink(setup, options: link.options, hidesSession: true)
      connect(fresh, link.attempt, link.options, wasReached: true)
    } catch {
      self.link = nil
      if actions.closed(link.attempt) { events.append([.closed(.lost(error.message))]) }
    }
  }

  /// Gives up the messages of a session that ends here.
  private func release(_ link: MosquittoLink) {
    for publish in link.publishes.values { actions.release(publish.message) }
    link.publishes = [:]
  }

  /// Tells what happened on the connection.
  private func deliver() {
    guard let link else { return }
    if link.hasLostSession, link.ending == nil {
      renew(link)
      return
    }
    var batch = link.events
    link.events.removeAll(keepingCapacity: true)
    link.eventBytes = 0
    if link.released.count > 0 {
      actions.release(link.released)
      link.released = Load()
    }
    if case .connected? = batch.first, let limits = link.limits {
      guard actions.opened(link.attempt, limits: limits) else {
        abandon(link)
        return
      }
    }
    if let ending = link.told {
      self.link = nil
      actions.release(link.forget())
      if link.isResumable { resting = link }
      guard actions.closed(link.attempt) else { return }
      batch.append(.closed(ending))
    }
    events.append(batch)
  }

  // MARK: - The socket

  /// Hands actions to the library as far as the socket takes them.
  private func transmit() {
    guard let link else { return }
    var count: Int
    repeat {
      count = 0
      while link.limits != nil, link.ending == nil, count < Self.bytesAtOnce,
        let action = actions.take(hasQuota: link.hasQuota, isSettled: link.isSettled)
      {
        count += max(1, link.perform(action))
      }
      if link.ending == nil, link.wantsWrite { link.write() }
    } while count > 0 && link.ending == nil && !link.wantsWrite
  }

  /// Waits for the socket, and reads as far as there is room for events.
  private func receive(until deadline: Timestamp?) {
    guard let link, link.ending == nil else {
      if link == nil { _ = waker.wait(milliseconds: -1) }
      return
    }
    let room = events.takeRoom()
    let isPaused = room.events == 0
    let interest = (isPaused ? 0 : Int32(POLLIN)) | (link.wantsWrite ? Int32(POLLOUT) : 0)
    let keepAlive: Int32 =
      (link.limits?.keepAlive ?? link.options.keepAlive) == 0 ? -1 : 1_000
    let closing = deadline.map(clock.milliseconds)
    let happened = waker.wait(
      on: interest == 0 ? -1 : link.socket, events: interest,
      milliseconds: closing.map { keepAlive < 0 ? $0 : min($0, keepAlive) } ?? keepAlive)
    let isCut = happened & Int32(POLLHUP | POLLERR) != 0
    if isPaused {
      link.hasBacklog = true
    } else if isCut || happened & Int32(POLLIN) != 0 || link.limits == nil && happened != 0 {
      read(link, room: room, isCut: isCut)
      gather(link, room: room)
    } else {
      link.hasBacklog = false
    }
    if link.ending == nil, isCut || happened & Int32(POLLOUT) != 0 { link.write() }
    if link.ending == nil { link.keepAlive() }
  }

  /// Reads what else of a stream comes within a moment.
  private func gather(_ link: MosquittoLink, room: (events: Int, bytes: Int)) {
    guard
      link.ending == nil, !link.hasLostSession, !link.hasBacklog,
      (Self.streamLength..<Self.packetsAtOnce).contains(link.events.count)
    else { return }
    usleep(Self.gatheringTime)
    read(link, room: room, isCut: false)
  }

  private func read(_ link: MosquittoLink, room: (events: Int, bytes: Int), isCut: Bool) {
    for _ in 0..<Self.packetsAtOnce {
      let count = link.events.count
      link.read()
      guard link.ending == nil, !link.hasLostSession else { return }
      guard link.events.count < room.events, link.eventBytes < room.bytes else {
        link.hasBacklog = true
        return
      }
      if link.events.count == count, !isCut || link.limits != nil {
        if link.hasBacklog { link.hasBacklog = link.hasUnreadBytes }
        return
      }
    }
    // In a handshake the library takes some ends of a connection for a pause, and waits for ever.
    if isCut, link.limits == nil { link.drop(.lost(link.unansweredText)) }
  }
}
