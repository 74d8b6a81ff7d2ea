#if !canImport(CryptoKit)
  import Foundation
  import RepriseCore
  import TestSupport
  import Testing

  @testable import Capture

  /// What tshark makes of the same sessions with the same key log.
  @Suite struct TLSTsharkTests {
    /// Early data that a server refuses is not delivered (RFC 8446 section 4.2.10), but shown by tshark all the same.
    private static let names = TLSSessions.names.map(\.0).filter { !$0.hasPrefix("unheard") }

    @Test(arguments: names)
    func `tshark sees the same control packets in the same frames`(_ name: String) throws {
      let session = try TLSSessions.named(name)
      let folder = Scratch()
      let capture = folder.directory.appending(path: "tls.pcap")
      let keys = folder.directory.appending(path: "keys.log")
      var file = PcapBuilder(linkType: 101)
      file.records = session.dialogue().segments.enumerated().map { index, segment in
        let packet = Readout.packet(segment)
        return .init(
          seconds: UInt32(index), fraction: 0, wire: UInt32(packet.count), data: packet)
      }
      try Data(file.bytes).write(to: capture)
      try Data(session.keys.utf8).write(to: keys)
      let lines = try Tshark.lines(
        capture.path,
        ["-o", "tls.keylog_file:\(keys.path)", "-d", "tls.port==8883,mqtt", "-Y", "mqtt"],
        fields: ["frame.number", "mqtt.msgtype"])
      let theirs = lines.flatMap { line in
        let words = line.split(separator: "\t")
        return words[1].split(separator: ",").map { "\(words[0]) \($0)" }
      }
      let (events, _) = try EventList.events(
        of: capture.path, options: InputOptions(keyLogs: [keys.path]))
      let ours = events.compactMap { event -> String? in
        guard case .mqtt(let packet) = event.body else { return nil }
        return "\(event.context.frame) \(packet.bytes[0] >> 4)"
      }
      #expect(ours == theirs)
      #expect(ours.count == TLSSessions.fromClient.count + TLSSessions.fromServer.count)
    }
  }
#endif
