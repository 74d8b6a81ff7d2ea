import Foundation
import TestSupport
import Wire

/// A capture that is made to take memory or time, written to a file piece by piece: IPv4 without a
/// link layer, frames of up to 64 KiB.
final class AttackCapture {
  private let file: FileHandle
  private var buffer: [UInt8] = []
  private var frames: UInt32 = 0
  /// The next byte of the client and of the server, by connection.
  private var sequences: [Int: (client: UInt32, server: UInt32)] = [:]
  let path: String

  init(in scratch: Scratch, _ name: String = "attack.pcap") throws {
    path = try scratch.write([], to: name).path
    file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    // Magic, version 2.4, zone, accuracy, snapshot length, raw IP.
    buffer = [0x4D, 0x3C, 0xB2, 0xA1, 2, 0, 4, 0] + Array(repeating: 0, count: 8)
    buffer += [0, 0, 4, 0, 101, 0, 0, 0]
  }

  /// Opens a connection; the number is any from 0 on.
  func open(_ connection: Int, port: UInt16 = 1_883) throws {
    sequences[connection] = (1_000, 5_000)
    try add(connection, port, isClient: true, flags: 0x02, [])
    try add(connection, port, isClient: false, flags: 0x12, [])
    try add(connection, port, isClient: true, flags: 0x10, [])
  }

  /// Sends bytes in as few frames as they fit in.
  func send(
    _ bytes: [UInt8], on connection: Int, port: UInt16 = 1_883, isClient: Bool = true
  ) throws {
    for start in stride(from: 0, to: bytes.count, by: 65_000) {
      let piece = bytes[start..<min(start + 65_000, bytes.count)]
      try add(connection, port, isClient: isClient, flags: 0x18, piece)
    }
  }

  /// Opens a connection on which a client of MQTT is accepted.
  func openMQTT(_ connection: Int, _ version: MQTTVersion = .v3_1_1) throws {
    try open(connection)
    let connect = MQTTPacket(.connect(.init(clientID: "c\(connection)")), version: version)
    try send(try connect.encoded(), on: connection)
    let accepted: [UInt8] = version == .v5_0 ? [0x20, 3, 0, 0, 0] : [0x20, 2, 0, 0]
    try send(accepted, on: connection, isClient: false)
  }

  /// Opens a connection of WebSocket whose messages may be compressed.
  func openWebSocket(_ connection: Int) throws {
    let key = Data("0123456789\(100_000 + connection)".utf8).base64EncodedString()
    let ask = """
      GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mqtt\r\n\
      Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Key: \(key)\r\n\r\n
      """
    let answer = """
      HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
      Sec-WebSocket-Protocol: mqtt\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\
      Sec-WebSocket-Accept: \(WebSocketKey.accept(for: key))\r\n\r\n
      """
    try open(connection, port: 80)
    try send(Array(ask.utf8), on: connection, port: 80)
    try send(Array(answer.utf8), on: connection, port: 80, isClient: false)
  }

  /// Sends a frame of WebSocket from the client, whose mask changes nothing.
  func send(frame firstByte: UInt8, _ payload: [UInt8], on connection: Int) throws {
    let count = UInt64(payload.count)
    let length = (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> UInt64(8 * $0)) }
    try send([firstByte, 0xFF] + length + [0, 0, 0, 0] + payload, on: connection, port: 80)
  }

  /// Writes what is left.
  func finish() throws {
    try file.write(contentsOf: Data(buffer))
    try file.close()
  }

  private func add(
    _ connection: Int, _ port: UInt16, isClient: Bool, flags: UInt8,
    _ payload: some Collection<UInt8>
  ) throws {
    let size = 40 + payload.count
    frames += 1
    for value in [frames / 1_000, frames % 1_000 * 1_000_000, UInt32(size), UInt32(size)] {
      buffer += (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
    buffer += [0x45, 0, UInt8(size >> 8), UInt8(size & 0xFF), 0, 0, 0, 0, 64, 6, 0, 0]
    let client: [UInt8] = [10, 1, UInt8(connection / 40_000), 1]
    buffer += isClient ? client + [10, 2, 0, 2] : [10, 2, 0, 2] + client
    let clientPort = UInt16(10_000 + connection % 40_000)
    let sequence = sequences[connection] ?? (0, 0)
    append(big: UInt32(isClient ? clientPort : port) << 16 | UInt32(isClient ? port : clientPort))
    append(big: isClient ? sequence.client : sequence.server)
    append(big: flags & 0x10 == 0 ? 0 : isClient ? sequence.server : sequence.client)
    buffer += [0x50, flags, 0xFF, 0xFF, 0, 0, 0, 0]
    buffer += payload
    let next = UInt32(payload.count) + (flags & 0x02 == 0 ? 0 : 1)
    if isClient {
      sequences[connection]?.client = sequence.client &+ next
    } else {
      sequences[connection]?.server = sequence.server &+ next
    }
    guard buffer.count > 1 << 20 else { return }
    try file.write(contentsOf: Data(buffer))
    buffer.removeAll(keepingCapacity: true)
  }

  private func append(big value: UInt32) {
    for shift: UInt32 in [24, 16, 8, 0] { buffer.append(UInt8(truncatingIfNeeded: value >> shift)) }
  }
}
