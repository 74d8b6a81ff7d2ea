public import RepriseCore

/// Writes down what is said on connections of TCP as a capture: raw IPv4 frames, one for each piece, in a pcap file.
public struct TCPCapture: Sendable {
  private struct Connection {
    let port: UInt16
    var next: [Peer: UInt32] = [.client: 1_000, .server: 5_000]
  }

  private static let largestSegment = 1_400

  /// The file so far.
  public private(set) var bytes: [UInt8] = []
  private var connections: [Int: Connection] = [:]
  private let serverPort: UInt16
  private var microseconds: UInt32 = 0

  /// Begins a file of connections to one server.
  public init(serverPort: UInt16) {
    self.serverPort = serverPort
    put(UInt32(0xA1B2_C3D4))
    put(UInt16(2))
    put(UInt16(4))
    put(UInt64(0))
    put(UInt32(65_535))
    // Raw IP.
    put(UInt32(101))
  }

  /// Opens a connection.
  public mutating func open(_ number: Int) {
    connections[number] = Connection(port: 40_000 + UInt16(number))
    add(number, .client, 0x02, [])
    add(number, .server, 0x12, [])
    add(number, .client, 0x10, [])
  }

  /// Sends bytes; the other end acknowledges them.
  public mutating func send(_ number: Int, _ sender: Peer, _ bytes: [UInt8]) {
    for start in stride(from: 0, to: bytes.count, by: Self.largestSegment) {
      let piece = bytes[start..<min(bytes.count, start + Self.largestSegment)]
      add(number, sender, 0x18, Array(piece))
    }
    add(number, sender.other, 0x10, [])
  }

  /// Closes a connection.
  public mutating func close(_ number: Int, by first: Peer) {
    add(number, first, 0x11, [])
    add(number, first.other, 0x11, [])
    add(number, first, 0x10, [])
  }

  private mutating func add(
    _ number: Int, _ sender: Peer, _ flags: UInt8, _ payload: [UInt8]
  ) {
    guard let connection = connections[number] else { return }
    let (sequence, other) = (connection.next[sender] ?? 0, connection.next[sender.other] ?? 0)
    let size = 40 + payload.count
    microseconds += 1_000
    // A record of pcap in the writer's own byte order, which here is the little one.
    for value in [1_800_000_000, microseconds, UInt32(size), UInt32(size)] { put(value) }
    let isClient = sender == .client
    let (mine, theirs): (UInt8, UInt8) = isClient ? (1, 2) : (2, 1)
    bytes += [0x45, 0] + Self.big(UInt16(size)) + [0, 0, 0, 0, 64, 6, 0, 0]
    bytes += [10, 0, 0, mine, 10, 0, 0, theirs]
    bytes += Self.big(isClient ? connection.port : serverPort)
    bytes += Self.big(isClient ? serverPort : connection.port)
    bytes += Self.big(sequence) + Self.big(flags & 0x10 == 0 ? 0 : other)
    bytes += [0x50, flags] + Self.big(UInt16.max) + [0, 0, 0, 0] + payload
    let length = UInt32(payload.count) + (flags & 0x03 == 0 ? 0 : 1)
    connections[number]?.next[sender] = sequence &+ length
  }

  private mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
  }

  private static func big(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
