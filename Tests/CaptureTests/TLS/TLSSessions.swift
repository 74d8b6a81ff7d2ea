import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import Capture

/// Sessions of MQTT over TLS between openssl's client and server, played once for all tests by `sessions.py`.
enum TLSSessions {
  /// One of them.
  struct Recorded {
    let name: String
    /// What each end sent, in order.
    let turns: [(sender: Peer, bytes: [UInt8])]
    /// The key log that the client wrote.
    let keys: String
    /// The private key of the server, in PEM format.
    let serverKey: String

    /// The TCP connection, as a capture has it, with segments of so many bytes at most.
    func dialogue(pieces: Int = 1_460, clientPort: UInt16 = 40_000) -> Dialogue {
      var dialogue = Dialogue(serverPort: 8_883)
      dialogue.clientPort = clientPort
      dialogue.open()
      for turn in turns { dialogue.send(turn.sender, turn.bytes, pieces: pieces) }
      dialogue.close()
      return dialogue
    }

    /// The secrets, as the blocks of a capture bring them.
    func secrets(_ text: String? = nil) -> TLSSecrets {
      let embedded = EmbeddedSecrets()
      embedded.add(
        SecretsBlock(
          type: SecretsBlock.tlsKeyLog, bytes: Array((text ?? keys).utf8), frame: 0))
      return TLSSecrets(embedded: embedded)
    }
  }

  /// Their names, and the version that they speak.
  static let names: [(String, String)] =
    [
      "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256",
      "TLS_AES_128_CCM_SHA256", "TLS_AES_128_CCM_8_SHA256", "padded", "retry", "update-both",
      "update-one", "resumed-psk-1", "resumed-psk-2", "early-1", "early-2", "application",
      "unheard-1", "unheard-2", "unheard-retry-1", "unheard-retry-2",
      "only-shared-TLS_AES_128_GCM_SHA256", "only-shared-TLS_CHACHA20_POLY1305_SHA256",
      "only-shared-TLS_AES_256_GCM_SHA384", "also-shared-TLS_AES_128_GCM_SHA256",
      "also-shared-TLS_CHACHA20_POLY1305_SHA256", "only-shared-early_SHA384",
      "also-shared-early_SHA384",
    ].map { ($0, "TLS 1.3") }
    + [
      "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305",
      "DHE-RSA-AES128-CCM", "DHE-RSA-AES256-CCM8", "AES128-CCM8", "AES256-CCM", "AES128-SHA",
      "AES128-SHA256", "ECDHE-RSA-AES256-SHA384", "NULL-SHA", "NULL-SHA256",
      "AES128-SHA-mac-first", "ECDHE-RSA-AES256-SHA384-mac-first", "PSK-AES128-GCM-SHA256",
      "AES128-SHA-plain-master", "PSK-AES128-CCM8", "PSK-AES256-CBC-SHA",
      "RSA-PSK-AES128-GCM-SHA256", "RSA-PSK-AES256-CBC-SHA384", "DHE-PSK-AES128-GCM-SHA256",
      "renegotiated",
      "resumed-ticket-1",
      "resumed-ticket-2", "resumed-id-1", "resumed-id-2", "resumed-rsa-ticket-1",
      "resumed-rsa-ticket-2", "resumed-rsa-id-1", "resumed-rsa-id-2", "refused-1", "refused-2",
    ].map { ($0, "TLS 1.2") }

  /// The key that both ends have.
  static func preSharedKey(_ name: String) -> [UInt8] {
    name.hasSuffix("_SHA384") ? Array(0...47) : (0...15).map { $0 * 0x11 }
  }

  /// What is said in each of them.
  static func publish(_ letter: Character, _ count: Int) -> [UInt8] {
    var size: [UInt8] = []
    var rest = count + 5
    repeat {
      size.append(UInt8(rest % 128) | (rest >= 128 ? 0x80 : 0))
      rest /= 128
    } while rest > 0
    return [0x30] + size + [0, 3] + Array("a/b".utf8)
      + [UInt8](repeating: letter.asciiValue ?? 0, count: count - 3)
      + Array("end".utf8)
  }

  static let fromClient: [[UInt8]] = [
    [0x10, 0x0c, 0, 4, 0x4d, 0x51, 0x54, 0x54, 4, 2, 0, 0x3c, 0, 0], publish("x", 20_000),
    [0xc0, 0], [0xe0, 0],
  ]
  static let fromServer: [[UInt8]] = [[0x20, 2, 0, 0], publish("y", 30_000), [0xd0, 0]]

  /// Returns a session.
  /// - Throws: What keeps it from being played.
  static func named(_ name: String) throws -> Recorded {
    try #require(played.get()[name])
  }

  private static let played = Result { try play() }

  private static func play() throws -> [String: Recorded] {
    let folder = Scratch()
    let script = PackageFolder.path("Tests/CaptureTests/TLS/sessions.py")
    let run = try ProgramRun(["python3", script, folder.path])
    try #require(run.status == 0, "python3 and openssl are needed: make setup")
    return try names.reduce(into: [:]) { $0[$1.0] = try recorded($1.0, folder.directory) }
  }

  private static func recorded(_ name: String, _ folder: URL) throws -> Recorded {
    let text = try String(contentsOf: folder.appending(path: "\(name).txt"), encoding: .utf8)
    let turns = try text.split(separator: "\n").map { line in
      let bytes = try #require(Self.bytes(line.dropFirst(2)))
      return (line.hasPrefix(">") ? Peer.client : .server, bytes)
    }
    return Recorded(
      name: name, turns: turns,
      keys: try String(contentsOf: folder.appending(path: "\(name).keys"), encoding: .utf8),
      serverKey: try String(contentsOf: folder.appending(path: "key.pem"), encoding: .utf8))
  }

  private static func bytes(_ digits: Substring) -> [UInt8]? {
    let values = digits.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    guard values.count == digits.utf8.count, values.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
  }
}
