import RepriseCore
import Wire

/// Makes a capture of what a recording says: each packet in one segment of TCP, over raw IP.
struct CaptureFile: EventConsumer {
  private var bytes: [UInt8] = []
  /// The next byte of each side of each connection.
  private var sequences: [Int: [Peer: UInt32]] = [:]

  static func bytes(of recording: [UInt8]) throws -> [UInt8] {
    var file = CaptureFile()
    // Magic, version 2.4, zone, accuracy, snapshot length, raw IP.
    file.bytes = [0x4D, 0x3C, 0xB2, 0xA1, 2, 0, 4, 0] + Array(repeating: 0, count: 8)
    file.bytes += [0, 0, 4, 0, 101, 0, 0, 0]
    var stream = RecordingStream()
    try stream.consume(recording.span.bytes, into: &file)
    try stream.finish(into: &file)
    return file.bytes
  }

  mutating func consume(_ event: borrowing EventView) {
    let context = event.context
    switch event.body {
    case .opened:
      sequences[context.connection] = [.client: 1_000, .server: 5_000]
      add(context, .client, flags: 0x02, [])
      add(context, .server, flags: 0x12, [])
      add(context, .client, flags: 0x10, [])
    case .closed(let closing):
      switch closing.how {
      case .endOfCapture: return
      case .reset: add(context, context.sender, flags: 0x14, [])
      case .fin:
        add(context, context.sender, flags: 0x11, [])
        add(context, context.sender.other, flags: 0x11, [])
        add(context, context.sender, flags: 0x10, [])
      }
    case .mqtt(let packet):
      let payload = packet.bytes.withUnsafeBytes { Array($0) }
      add(context, context.sender, flags: 0x18, payload)
    default: return
    }
  }

  private mutating func add(
    _ context: EventContext, _ sender: Peer, flags: UInt8, _ payload: [UInt8]
  ) {
    let size = 40 + payload.count
    append(little: UInt32(context.time.nanoseconds / 1_000_000_000))
    append(little: UInt32(context.time.nanoseconds % 1_000_000_000))
    append(little: UInt32(size))
    append(little: UInt32(size))
    let hosts: [UInt8] = sender == .client ? [1, 2] : [2, 1]
    bytes += [0x45, 0, UInt8(size >> 8 & 0xFF), UInt8(size & 0xFF), 0, 0, 0, 0, 64, 6, 0, 0]
    // Of one host, where nothing comes late.
    bytes += [127, 0, 0, hosts[0], 127, 0, 0, hosts[1]]
    let port = UInt16(50_000 + context.connection)
    let ports = sender == .client ? [port, 1_883] : [1_883, port]
    for port in ports { bytes += [UInt8(port >> 8), UInt8(port & 0xFF)] }
    let sequence = sequences[context.connection]?[sender] ?? 0
    append(big: sequence)
    append(big: flags & 0x10 == 0 ? 0 : sequences[context.connection]?[sender.other] ?? 0)
    bytes += [0x50, flags, 0xFF, 0xFF, 0, 0, 0, 0]
    bytes += payload
    let isEnd = flags & 0x03 != 0
    sequences[context.connection]?[sender] = sequence &+ UInt32(payload.count) &+ (isEnd ? 1 : 0)
  }

  private mutating func append(little value: UInt32) {
    for shift in [0, 8, 16, 24] { bytes.append(UInt8(value >> shift & 0xFF)) }
  }

  private mutating func append(big value: UInt32) {
    for shift in [24, 16, 8, 0] { bytes.append(UInt8(value >> shift & 0xFF)) }
  }
}
