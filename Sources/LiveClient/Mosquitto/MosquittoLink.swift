import CMosquitto
import CWebSockets
import Glibc
import RepriseCore

/// The one owner of a handle of libmosquitto: one connection after another in the same session.
///
/// Everything in it happens on the thread that made it, so it needs no lock; the library is told
/// not to write by itself, so that no callback comes before the call that causes it has returned.
/// The handle keeps an unretained reference to the link, which outlives it.
final class MosquittoLink {
  /// Where to connect to, and how.
  struct Setup: Sendable {
    var url: BrokerURL
    var tls: TLSOptions
    var version: MosquittoClient.Version
    /// How long the server may take to accept a connection, once there is one.
    var patience: Duration = .seconds(60)
  }

  let setup: Setup
  private(set) var options: ConnectOptions
  let handle: OpaquePointer

  /// The number of the connection, as the ``ActionQueue`` counts.
  private(set) var attempt: UInt64 = 0
  /// What happened and was not told yet.
  var events: [ClientEvent] = []
  /// How many bytes of memory these hold.
  var eventBytes = 0
  /// What the server said when it accepted the connection; nil before.
  var limits: ServerLimits?
  /// Whether the server forgot the session that this end remembers.
  var hasLostSession = false
  /// The code of a CONNACK that refuses.
  var refusal: UInt8?
  /// The reason in the server's DISCONNECT, or of the library.
  var disconnectReason: Int32?
  /// The library's complaints since the connection was begun.
  var complaints: [String] = []
  /// Why the connection is over; nil while it is not.
  private(set) var ending: ClientEvent.Closed?
  /// Whether there was a connection over which a CONNECT could be sent: TCP, and with it TLS.
  private(set) var isReached = false
  /// Why there was none, as it was when that was found.
  private var cause = ClientEvent.Closed.Cause.other
  /// The messages that are with the library, by packet identifier.
  var publishes: [Int32: (id: ClientAction.ID, message: Load, qos: QoS)] = [:]
  /// How many of them are above QoS 0.
  var inFlight = 0
  /// What was published or refused and not told to the ``ActionQueue`` yet.
  var released = Load()
  /// The SUBSCRIBEs without an answer, by packet identifier.
  var subscribes: [Int32: (id: ClientAction.ID, range: Range<Int>)] = [:]
  /// The answers so far to actions that took more than one SUBSCRIBE.
  var grants: [ClientAction.ID: (granted: [QoS?], missing: Int)] = [:]
  /// The UNSUBSCRIBEs without an answer, by packet identifier.
  var unsubscribes: [Int32: ClientAction.ID] = [:]

  /// Whether the socket may hold what the buffer had no room for: the answer to a PINGREQ, for one.
  var hasBacklog = false
  /// Whether a PINGREQ has no answer yet.
  var isPingOpen = false
  /// The messages of QoS 2 that are under way to here, in a session that can be taken up.
  var ledger = ExactlyOnceLedger()

  /// Whether the session of an earlier connection is remembered here.
  private(set) var hasSession = false
  /// Whether the server's answer about the session is known to be about another connection.
  private var hidesSession: Bool
  private var isDisconnecting = false

  /// Makes a handle.
  /// - Parameters:
  ///   - setup: Where to connect to, and how.
  ///   - options: Whose session it is.
  ///   - hidesSession: Whether to say that the server has no session, whatever it says.
  /// - Throws: ``DataClientError`` when the library refuses.
  init(
    _ setup: Setup, options: ConnectOptions, hidesSession: Bool = false
  ) throws(DataClientError) {
    self.setup = setup
    self.options = options
    self.hidesSession = hidesSession
    guard
      Mosquitto.isStarted,
      let handle = mosquitto_new(
        options.clientID.isEmpty ? nil : options.clientID, options.cleanStart, nil)
    else { throw DataClientError(.transport, "libmosquitto makes no client: \(systemText(errno))") }
    self.handle = handle
    mosquitto_user_data_set(handle, Unmanaged.passUnretained(self).toOpaque())
    setCallbacks()
    try Mosquitto.check(
      mosquitto_int_option(handle, MOSQ_OPT_PROTOCOL_VERSION, setup.version.number), "version")
    try Mosquitto.check(mosquitto_int_option(handle, MOSQ_OPT_TCP_NODELAY, 1), "no delay")
    try Mosquitto.check(mosquitto_threaded_set(handle, true), "thread")
    if setup.url.isSecure { try setTLS() }
  }

  deinit { mosquitto_destroy(handle) }

  /// Whether a later connection may take up the session.
  var isResumable: Bool { !options.cleanStart }

  /// Whether the library remembers anything that a later connection needs, and can go on with it.
  var hasUnfinishedMessages: Bool { !ledger.isStuck && (!ledger.isEmpty || inFlight > 0) }

  /// The socket; -1 when there is none.
  var socket: Int32 { mosquitto_socket(handle) }

  /// Whether the socket holds something.
  var hasUnreadBytes: Bool {
    var file = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&file, 1, 0) > 0
  }

  /// Whether there is something to write.
  var wantsWrite: Bool { mosquitto_want_write(handle) }

  /// Whether a DISCONNECT would cut nothing off: a session keeps what is under way.
  var isSettled: Bool { inFlight == 0 || isResumable }

  /// Whether one more message above QoS 0 may be sent.
  var hasQuota: Bool { inFlight < (limits?.receiveMaximum ?? 0) }

  // MARK: - Opening and closing

  /// Opens a connection: resolves the name, connects and queues the CONNECT.
  ///
  /// This can take minutes. A failure is told by ``ending``.
  /// - Parameters:
  ///   - attempt: The number of the connection.
  ///   - options: How to open it.
  func connect(_ attempt: UInt64, _ options: ConnectOptions) {
    if limits != nil { (hasSession, hidesSession) = (true, false) }
    (self.attempt, self.options) = (attempt, options)
    (limits, refusal, disconnectReason, ending) = (nil, nil, nil, nil)
    (isDisconnecting, hasLostSession, complaints) = (false, false, [])
    (hasBacklog, isPingOpen, isReached, cause) = (false, false, false, .other)
    setLog()
    do throws(DataClientError) {
      try setCredentials()
      try setWill()
    } catch {
      ending = .lost(error.message)
      return
    }
    var properties: OpaquePointer?
    defer { mosquitto_property_free_all(&properties) }
    if let code = connectProperties(&properties) { return note(code) }
    // The library makes its context in this call, and begins the handshake with it.
    let code = KeyLog.attach(toContextsIfSecure: setup.url.isSecure) {
      mosquitto_connect_bind_v5(
        handle, setup.url.host, Int32(setup.url.port), Int32(options.keepAlive), nil, properties)
    }
    note(code)
    refuseCertificates()
    if socket >= 0 { _ = fcntl(socket, F_SETFD, FD_CLOEXEC) }
    // The call returns when TCP is up; TLS comes about while the socket is read and written.
    isReached = ending == nil && !setup.url.isSecure
  }

  /// Whether to say that the server kept the session.
  func isSessionPresent(_ isPresent: Bool) -> Bool { isPresent && !hidesSession }

  /// Queues a DISCONNECT.
  func disconnect() {
    isDisconnecting = true
    note(mosquitto_disconnect_v5(handle, 0, nil))
  }

  /// Ends the connection without good order.
  /// - Parameter ending: What to say of it.
  func drop(_ ending: ClientEvent.Closed) {
    if self.ending == nil { self.ending = ending }
    if socket >= 0 { shutdown(socket, Int32(SHUT_RDWR)) }
  }

  /// Forgets what can't be answered any more.
  /// - Returns: The messages among it.
  func forget() -> Load {
    subscribes = [:]
    unsubscribes = [:]
    grants = [:]
    var forgotten = Load()
    for (mid, publish) in publishes where !isResumable || publish.qos == .atMostOnce {
      forgotten.add(publish.message)
      if publish.qos > .atMostOnce { inFlight -= 1 }
      publishes[mid] = nil
    }
    return forgotten
  }

  // MARK: - The socket

  /// Reads what there is of a packet; the library reads one at a time.
  func read() {
    noteSecurity()
    note(mosquitto_loop_read(handle, 1))
    noteSecurity()
  }

  /// Writes what the socket takes.
  func write() {
    noteSecurity()
    note(mosquitto_loop_write(handle, 1))
    noteSecurity()
  }

  /// Notes when TLS has come about, which is when a CONNECT can go out.
  private func noteSecurity() {
    guard !isReached, ending == nil, let connection = mosquitto_ssl_get(handle) else { return }
    isReached = SSL_is_init_finished(OpaquePointer(connection)) != 0
  }

  /// Notes that there was a connection before this one, of which the user was told nothing.
  func noteReached() { isReached = true }

  /// What to tell of the end: without a connection nothing was lost.
  var told: ClientEvent.Closed? {
    switch ending {
    case .lost(let text) where !isReached, .byServer(_, let text) where !isReached:
      .unreached(text, cause: cause)
    default: ending
    }
  }

  /// Sends a PINGREQ when it is time, and notices when none is answered.
  ///
  /// An answer that may stand behind a backlog is not missed.
  func keepAlive() {
    guard !hasBacklog || !isPingOpen else { return }
    setLog(isNeeded: true)
    note(mosquitto_loop_misc(handle))
    setLog()
  }

  /// Looks at a return code, and at whether the connection is over.
  private func note(_ code: Int32) {
    let number = errno
    guard ending == nil, code != 0 || socket < 0 else { return }
    if let refusal {
      ending = .refused(code: refusal)
    } else if isDisconnecting, code == 0 {
      ending = .byUser
    } else if code == 0, let reason = disconnectReason.flatMap(UInt8.init(exactly:)), reason != 0 {
      ending = .byServer(
        code: reason, "\(place): the server disconnected: \(ServerReason(reason).text())")
    } else if code == 0 {
      ending = .byServer(code: nil, "\(place): the server disconnected; connect again")
    } else if let problem = securityProblem(errno: number) {
      ending = .lost("\(place): TLS: \(problem)")
    } else {
      let remedy = Mosquitto.remedy(for: code, errno: number, isOpen: limits != nil)
      let text = "\(place): \(Mosquitto.text(of: code, errno: number)); \(remedy)"
      let isInOrder = limits != nil && Mosquitto.isEndInOrder(code, errno: number)
      ending = isInOrder ? .byServer(code: nil, text) : .lost(text)
      if Mosquitto.metNobody(code, errno: number) { cause = .ofNoWay(to: setup.url.host) }
    }
  }

  /// What to say of a server that went away without an answer to CONNECT.
  var unansweredText: String { noAnswer("closed the connection without an answer") }

  /// What to say of a server that is there and does not answer CONNECT.
  var silentText: String { noAnswer("did not answer CONNECT in time") }

  private func noAnswer(_ what: String) -> String {
    "\(place): the server \(what); see whether it speaks MQTT on this port, and "
      + (setup.url.isSecure ? "TLS" : "no TLS")
  }

  /// The server, for people.
  var place: String { "\(setup.url.host) port \(setup.url.port)" }
}
