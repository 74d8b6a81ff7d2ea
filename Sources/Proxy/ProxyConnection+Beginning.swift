import Capture
import Glibc
import LiveClient
import RepriseCore

/// How a connection begins: the client's TLS, and the way to the server.
extension ProxyConnection {
  // MARK: The way to the server

  func connect() {
    waitAWhile()
    while let address = untried.popFirst() {
      do throws(DataClientError) {
        let socket = try TCPSocket.connecting(to: address)
        self.socket = socket
        isConnected = false
        var side = ProxySide(
          try tls.client?.channel(on: socket, offering: greeting?.offeredApplications ?? [])
            ?? socket)
        side.beginning = POLLOUT
        server = side
        return
      } catch {
        trouble = error.message
      }
    }
    giveUp()
  }

  func giveUp() {
    tap.reached(number, .failed(upstream.advice(trouble)), at: clock.now)
    server = nil
    socket = nil
    breakOff(by: .server)
  }

  func goOnConnecting() {
    guard let socket, let side = server else { return }
    if !isConnected, let problem = socket.connectionProblem() {
      trouble = problem
      return connect()
    }
    isConnected = true
    switch side.channel.begin() {
    case .wantsReading: server?.beginning = POLLIN
    case .wantsWriting: server?.beginning = POLLOUT
    case .wantsAnswer: server?.beginning = 0
    case .failed(let why):
      trouble = why
      giveUp()
    case .done: noteConnected(socket, side.channel.protection)
    }
  }

  func noteConnected(_ socket: TCPSocket, _ protection: String?) {
    server?.hasBegun = true
    deadline = nil
    guard let ends = socket.ends else {
      // It was there for a moment, and may have said why it went.
      var rest = [UInt8](repeating: 0, count: 1_024)
      trouble = "the connection was lost"
      if case .failed(let why) = server?.channel.read(into: &rest) { trouble = why }
      return giveUp()
    }
    tap.reached(
      number, .connected(from: ends.local, to: ends.remote, by: protection), at: clock.now)
    answer()
  }

  /// Gives up what has been waited for too long.
  func expire(_ now: Timestamp) {
    guard let deadline, deadline <= now, !isOver else { return }
    self.deadline = nil
    guard breaker == nil else {
      finishBreakingOff()
      return
    }
    guard isConnecting else { return refuse("no end of the TLS handshake in \(Self.seconds) s") }
    trouble =
      (isConnected ? "no end of the TLS handshake" : "no answer")
      + " in \(Self.seconds) s"
    connect()
  }

  static var seconds: Int64 { patience / 1_000_000_000 }

  /// Whether the server is being waited for.
  var isConnecting: Bool { server.map { !$0.hasBegun } ?? false }

  // MARK: The client's TLS

  func goOnGreeting() {
    guard !client.hasBegun, !isConnecting else { return }
    switch client.channel.begin() {
    case .wantsReading: client.beginning = POLLIN
    case .wantsWriting: client.beginning = POLLOUT
    case .wantsAnswer:
      // What the server chooses is what the client is to get.
      client.beginning = 0
      connect()
    case .failed(let why): refuse(why)
    case .done:
      client.hasBegun = true
      deadline = nil
      tap.reached(number, .greeted(greetingText), at: clock.now)
    }
  }

  /// Answers the client's hello, now that it is known what the server chooses.
  func answer() {
    guard let greeting else { return }
    let application = (server?.channel as? TLSChannel)?.application ?? []
    guard tls.server?.answer(greeting, at: "\(ends.listener.address)", application) == true else {
      return refuse(
        "there is no certificate for the name \(greeting.askedName); ask for another one")
    }
    waitAWhile()
    goOnGreeting()
  }

  var greetingText: String {
    guard let greeting else { return "" }
    var text = "the client speaks \(greeting.protection ?? "TLS")"
    if !greeting.askedName.isEmpty { text += ", asks for \(greeting.askedName)" }
    let application = String(decoding: greeting.application, as: UTF8.self)
    if !application.isEmpty { text += ", gets \(application)" }
    guard let subject = greeting.shownSubject else { return text }
    return text + ", and shows the certificate of \(subject), which the server does not see"
  }

  /// Gives a client up that there is no TLS with.
  func refuse(_ why: String) {
    tap.reached(number, .failed("the client \(ends.address): \(why)"), at: clock.now)
    breakOff(by: .server)
  }
}
