import Foundation
import RepriseCore
import TestSupport
import Testing

@testable import Capture

/// Decrypted captures, written in plain or with their secrets.
@Suite struct PlainConversionTests {
  /// A session over TLS, and beside it one in plain.
  private func capture(_ session: TLSSessions.Recorded) throws -> (TemporaryCapture, [Segment]) {
    var plain = Dialogue(client: 77, server: 78)
    plain.clientPort = 40_009
    plain.open()
    plain.send(.client, TLSSessions.fromClient[0])
    plain.send(.server, TLSSessions.fromServer[0])
    plain.close()
    var file = PcapngBuilder()
    file.section()
    file.interface(linkType: 101)
    let segments = plain.segments + session.dialogue().segments
    for (index, segment) in segments.enumerated() {
      file.enhancedPacket(ticks: UInt64(index), Readout.packet(segment))
    }
    return (try TemporaryCapture(file.bytes), plain.segments)
  }

  private func keys(_ text: String) throws -> TemporaryCapture {
    try TemporaryCapture(Array(text.utf8))
  }

  private static let names = TLSSessions.names.map(\.0)

  @Test(arguments: names)
  func `what TLS carried is plain TCP, and nothing else is touched`(_ name: String) throws {
    let session = try TLSSessions.named(name)
    let (capture, plain) = try capture(session)
    let keys = try keys(session.keys)
    let options = InputOptions(keyLogs: [keys.path])
    var plan = CaptureConversion.Plan()
    plan.isPlain = true
    plan.usesKnownPorts = true
    plan.survey = try CaptureConversion(capture.path, options).survey { _, _ in }
    #expect(plan.survey?.decryptedCount == 1)
    var copying = CaptureCopier.Options(application: "test")
    copying.isChanged = true
    copying.addsPackets = true
    let copy = try Conversions.converted(
      capture.path, to: .pcapng, options: options, copying, plan)
    let frames = try Conversions.frames(copy.bytes)
    #expect(Array(frames.prefix(plain.count)) == plain.map(Readout.packet))

    func packets(_ events: [Event]) -> [String] {
      events.compactMap { event in
        guard case .mqtt(let packet) = event.body else { return nil }
        return "\(event.context.connection) \(event.context.sender) \(packet.bytes)"
      }
    }
    let before = try EventList.events(of: capture.path, options: options).events
    let after = try Conversions.events(copy.bytes)
    #expect(packets(after) == packets(before))
    #expect(!after.contains { $0.context.wire == .tls })
    #expect(
      after.compactMap { event -> ConnectionClosing.How? in
        guard case .closed(let closing) = event.body else { return nil }
        return closing.how
      } == [.fin, .fin])
    let file = try TemporaryCapture(copy.bytes)
    let theirs = try Tshark.lines(file.path, ["-Y", "mqtt"], fields: ["mqtt.msgtype"])
    #expect(theirs.flatMap { $0.split(separator: ",") }.count == packets(after).count)
  }

  @Test func `without its keys a connection stays as it is`() throws {
    let (capture, _) = try capture(TLSSessions.named("TLS_AES_128_GCM_SHA256"))
    let other = try keys(TLSSessions.named("AES128-SHA").keys)
    let options = InputOptions(keyLogs: [other.path])
    var plan = CaptureConversion.Plan()
    plan.isPlain = true
    plan.survey = try CaptureConversion(capture.path, options).survey { _, _ in }
    #expect(plan.survey?.decryptedCount == 0)
    let copy = try Conversions.converted(
      capture.path, to: .pcapng, options: options, .init(application: "test"), plan)
    #expect(try Conversions.frames(copy.bytes) == Conversions.frames(bytes(capture)))
  }

  private func bytes(_ capture: TemporaryCapture) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(filePath: capture.path)))
  }

  /// A reader who gets a part of a capture gets no secrets of the rest.
  @Test(arguments: [0, 1])
  func `secrets of connections that are left out are left out`(_ chosen: Int) throws {
    let sessions = try ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"].map {
      try TLSSessions.named($0)
    }
    func lines(_ text: String) -> Set<Substring> {
      Set(text.split(separator: "\n").filter { !$0.hasPrefix("#") })
    }
    let all = sessions.map(\.keys).joined(separator: "\n")
    var file = PcapngBuilder()
    file.section()
    file.interface(linkType: 101)
    file.secrets(type: SecretsBlock.tlsKeyLog, Array(all.utf8))
    for (index, session) in sessions.enumerated() {
      for segment in session.dialogue(clientPort: 40_000 + UInt16(index)).segments {
        file.enhancedPacket(Readout.packet(segment))
      }
    }
    let (capture, log) = (try TemporaryCapture(file.bytes), try keys(all))
    for isNamed in [false, true] {
      let options = InputOptions(keyLogs: isNamed ? [log.path] : [])
      let conversion = CaptureConversion(capture.path, options)
      #expect(conversion.hasSecrets)
      var plan = CaptureConversion.Plan()
      plan.choosesConnections = true
      plan.survey = try conversion.survey { event, connections in
        if event.context.connection == chosen + 1 { connections.choose(chosen + 1) }
      }
      var copying = CaptureCopier.Options(application: "test")
      copying.randoms = plan.randoms
      let copy = try Conversions.converted(
        capture.path, to: .pcapng, options: options, copying, plan)
      let written = try TemporaryCapture(copy.bytes)
      let kept = EmbeddedSecrets.all(in: written.path)
      #expect(kept.count == 1)
      let own = lines(sessions[chosen].keys)
      #expect(lines(String(decoding: kept.flatMap(\.bytes), as: UTF8.self)) == own)
      #expect(lines(String(decoding: plan.secrets, as: UTF8.self)) == (isNamed ? own : []))
      // What is left opens what is left.
      let events = try Conversions.events(copy.bytes)
      #expect(events.count { if case .mqtt = $0.body { true } else { false } } > 0)
    }
  }

  @Test(arguments: ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "update-both"])
  func `the secrets of a capture are embedded, and nobody else's`(_ name: String) throws {
    let session = try TLSSessions.named(name)
    let (capture, _) = try capture(session)
    let foreign = try TLSSessions.named("AES128-SHA").keys
    let keys = try keys(foreign + "# a remark\r\n" + session.keys)
    let options = InputOptions(keyLogs: [keys.path])
    var plan = CaptureConversion.Plan()
    plan.survey = try CaptureConversion(capture.path, options).survey { _, _ in }
    let lines = session.keys.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(
      String(decoding: plan.secrets, as: UTF8.self).split(separator: "\n") == lines)
    var copying = CaptureCopier.Options(application: "test")
    copying.isChanged = true
    copying.secrets = plan.secrets
    let copy = try Conversions.converted(
      capture.path, to: .pcapng, options: options, copying, .init())
    #expect(try Conversions.frames(copy.bytes) == Conversions.frames(bytes(capture)))
    let before = try EventList.events(of: capture.path, options: options).events
    #expect(try Conversions.events(copy.bytes) == before)
    let file = try TemporaryCapture(copy.bytes)
    let theirs = try Tshark.lines(
      file.path, ["-d", "tls.port==8883,mqtt", "-Y", "mqtt && tls"], fields: ["mqtt.msgtype"])
    #expect(
      theirs.flatMap { $0.split(separator: ",") }.count
        == TLSSessions.fromClient.count + TLSSessions.fromServer.count)
  }

  #if !canImport(CryptoKit)
    /// What is embedded is what openssl has written in its own key log.
    @Test(arguments: [
      ("AES128-SHA", true, false), ("resumed-rsa-ticket-1", true, false),
      ("AES128-SHA-plain-master", true, false), ("PSK-AES128-GCM-SHA256", false, true),
      ("RSA-PSK-AES128-GCM-SHA256", true, true),
      ("only-shared-TLS_AES_128_GCM_SHA256", false, true),
      ("only-shared-TLS_AES_256_GCM_SHA384", false, true),
      ("only-shared-early_SHA384", false, true),
    ])
    func `the secrets that a key gives are embedded, and not the key`(
      _ name: String, _ hasServerKey: Bool, _ hasSharedKey: Bool
    ) throws {
      let session = try TLSSessions.named(name)
      let (capture, _) = try capture(session)
      let file = try keys(session.serverKey)
      let shared = TLSSessions.preSharedKey(name)
      let options = InputOptions(
        serverKey: hasServerKey ? file.path : nil, preSharedKey: hasSharedKey ? shared : nil)
      var plan = CaptureConversion.Plan()
      plan.survey = try CaptureConversion(capture.path, options).survey { _, _ in }
      let labels = TLSKeyLog.Label.allCases.map(\.rawValue)
      let theirs = session.keys.lowercased().split(separator: "\n").filter { line in
        labels.contains { line.hasPrefix($0.lowercased() + " ") }
      }
      let ours = String(decoding: plan.secrets, as: UTF8.self).lowercased()
      #expect(Set(ours.split(separator: "\n")) == Set(theirs))
      #expect(ours.split(separator: "\n").count == theirs.count && !theirs.isEmpty)
      var copying = CaptureCopier.Options(application: "test")
      copying.isChanged = true
      copying.secrets = plan.secrets
      let copy = try Conversions.converted(
        capture.path, to: .pcapng, options: options, copying, .init())
      let before = try EventList.events(of: capture.path, options: options).events
      #expect(try Conversions.events(copy.bytes) == before)
      #expect(before.count > 6)
    }

    @Test(arguments: ["AES128-SHA", "PSK-AES128-GCM-SHA256", "only-shared-TLS_AES_128_GCM_SHA256"])
    func `a wrong key gives no secrets`(_ name: String) throws {
      let (capture, _) = try capture(TLSSessions.named(name))
      let options = InputOptions(preSharedKey: TLSSessions.preSharedKey(name).reversed())
      var plan = CaptureConversion.Plan()
      plan.survey = try CaptureConversion(capture.path, options).survey { _, _ in }
      #expect(plan.secrets == [] && plan.survey?.decryptedCount == 0)
    }
  #endif

  @Test func `each of several key logs is for its connections`() throws {
    let sessions = try ["TLS_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"].map {
      try TLSSessions.named($0)
    }
    var file = PcapngBuilder()
    file.section()
    file.interface(linkType: 101)
    for (index, session) in sessions.enumerated() {
      for segment in session.dialogue(clientPort: 40_000 + UInt16(index)).segments {
        file.enhancedPacket(Readout.packet(segment))
      }
    }
    let capture = try TemporaryCapture(file.bytes)
    // The first has no end of its last line.
    let logs = try sessions.map { try keys($0.keys.trimmingCharacters(in: .newlines)) }
    func packets(_ logs: [TemporaryCapture]) throws -> Int {
      try EventList.events(of: capture.path, options: InputOptions(keyLogs: logs.map(\.path)))
        .events.count { if case .mqtt = $0.body { true } else { false } }
    }
    let each = TLSSessions.fromClient.count + TLSSessions.fromServer.count
    #expect(try packets(logs) == 2 * each && packets([logs[0]]) == each)
    let options = InputOptions(keyLogs: logs.map(\.path))
    var plan = CaptureConversion.Plan()
    plan.survey = try CaptureConversion(capture.path, options).survey { _, _ in }
    let all = sessions.flatMap { $0.keys.split(separator: "\n").filter { !$0.hasPrefix("#") } }
    #expect(String(decoding: plan.secrets, as: UTF8.self).split(separator: "\n") == all)
  }
}
