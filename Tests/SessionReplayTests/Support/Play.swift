import RepriseCore
import SessionReplay
import Wire

/// One end of a connection, with a test at the other one.
struct Play {
  private(set) var end: ReplayedEnd
  private var tempo: ReplayTempo
  /// Where the other end left the session.
  private(set) var divergence: ReplayDivergence?
  /// What the end has sent that the test has not looked at.
  private(set) var sent: [MQTTPacket.Content] = []
  /// The same, whatever is spoken.
  private(set) var units: [ReplayUnit] = []
  /// How the end has ended the connection.
  private(set) var ended: ConnectionClosing.How?
  /// What was let pass.
  private(set) var passed = 0
  var now = Dialogue.time(1_000_000)

  init(
    _ script: SessionScript, as own: Peer, match: ReplayMatch = .json, speed: Double? = nil,
    connection: Int = 0
  ) {
    let settings = ReplaySettings.matching(match, speed: speed)
    tempo = ReplayTempo(speed)
    end = ReplayedEnd(script.connections[connection], as: own, settings, at: now)
    advance()
  }

  /// Sends a packet of the test's.
  @discardableResult
  mutating func send(
    _ content: MQTTPacket.Content, _ version: MQTTVersion = .v3_1_1, dup: Bool = false
  ) throws -> [MQTTPacket.Content] {
    try take(ReplayPacket(content, version, dup: dup))
  }

  /// Says something of WebSocket; returns what the end says then, in words.
  @discardableResult
  mutating func say(_ body: Event.Body) -> [String] {
    guard divergence == nil, let unit = body.unit else { return [] }
    let before = units.count
    switch end.take(unit, at: now, by: &tempo) {
    case .matched: break
    case .passed: passed += 1
    case .diverged(let divergence): self.divergence = divergence
    }
    advance()
    return units[before...].map(\.words)
  }

  /// Sends bytes of the test's, which need not be a packet that can be read.
  mutating func send(bytes: [UInt8]) throws { _ = try take(ReplayPacket(bytes)) }

  private mutating func take(_ packet: ReplayPacket) throws -> [MQTTPacket.Content] {
    guard divergence == nil else { return [] }
    switch end.take(.packet(packet), at: now, by: &tempo) {
    case .matched: break
    case .passed: passed += 1
    case .diverged(let divergence): self.divergence = divergence
    }
    return advance()
  }

  /// Ends the connection.
  mutating func leave() { divergence = divergence ?? end.takeEnd(at: now, by: &tempo) }

  /// Lets time go by.
  @discardableResult
  mutating func wait(_ duration: Duration) -> [MQTTPacket.Content] {
    now = now.advanced(by: duration)
    if let deadline = end.deadline(by: tempo), deadline <= now, divergence == nil {
      divergence = end.givingUp("sends nothing more")
    }
    return advance()
  }

  /// Has the end do what is due; returns what it sends.
  @discardableResult
  private mutating func advance() -> [MQTTPacket.Content] {
    var new: [MQTTPacket.Content] = []
    while true {
      switch end.next(at: now, by: &tempo, isFree: { _ in true }) {
      case .send(let unit, _):
        units.append(unit)
        if let content = unit.packet?.decoded?.content { new.append(content) }
      case .end(let how): ended = how
      case .wait, .nothing:
        sent += new
        return new
      }
    }
  }
}
