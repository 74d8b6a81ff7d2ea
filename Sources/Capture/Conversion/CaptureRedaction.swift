package import RepriseCore
import Wire

/// Hides secrets in a capture, in whose frames everything keeps its place.
///
/// What is decoded is known to its last byte: secrets are overwritten, checksums made right, and a frame ends early
/// (as by a snapshot length) where bytes are told whose meaning nobody knows. Of TCP that is not decoded, and of UDP that
/// is text, text is looked through; of everything else no more than headers is left. What TLS carries stays
/// encrypted, and secrets to decrypt it are left out.
package struct CaptureRedaction {
  private let path: String
  private let options: InputOptions
  private let rules: RedactionRules

  /// What was done.
  package struct Outcome {
    /// How many frames were changed.
    package var changed = 0
    /// How many frames end early now.
    package var cut = 0
    /// How many frames of connections that are not decoded were looked through as text.
    package var lookedThrough = 0
    /// What the first reading noted.
    package var summary = InputSummary()
    /// Why the file was read to some place only; nil if it was read to its end.
    package var damage: CaptureError?
  }

  /// Prepares to hide.
  /// - Parameters:
  ///   - path: The capture, which is read twice.
  ///   - options: What the user says about the traffic.
  ///   - rules: What is hidden.
  package init(_ path: String, _ options: InputOptions, _ rules: RedactionRules) {
    self.path = path
    self.options = options
    self.rules = rules
  }

  /// Writes the capture anew.
  /// - Parameter copier: Writes it; it should leave secrets out.
  /// - Returns: What was done.
  /// - Throws: ``CaptureError``, and what the copier's sink throws.
  package func write(_ copier: CaptureCopier) throws -> Outcome {
    var outcome = Outcome()
    let records = try survey(&outcome.summary)
    let redactor = FrameRedactor(records, rules)
    var reader = try CaptureReader(path: path, counting: options.count)
    do {
      try copier.copy(&reader) { redactor.redact($0) }
    } catch let error as CaptureError where reader.framesRead > 0 {
      outcome.damage = error
    }
    try copier.finish()
    outcome.changed = redactor.changed
    outcome.cut = redactor.cut
    outcome.lookedThrough = redactor.lookedThrough
    return outcome
  }

  /// Finds out where secrets stand.
  private func survey(_ summary: inout InputSummary) throws -> [StreamRecord] {
    let emitter = SessionEmitter { _ in }
    let secrets = StreamSecrets(rules)
    emitter.secrets = secrets
    var reader = try CaptureReader(path: path, counting: options.count)
    var dissector = FrameDissector()
    var reassembler = TCPReassembler(
      SessionTraffic(decode: options.decode, memory: options.memory, emitter: emitter))
    // Those of which nothing was handed on yet in one direction.
    var waiting: [ObjectIdentifier: TCPReassembler<SessionTraffic>.Flow] = [:]
    do {
      while let frame = try reader.next() {
        dissector.dissect(frame) { segment in
          reassembler.take(segment)
          guard segment.payloadWireLength > 0, let flow = reassembler.flow(of: segment) else {
            return
          }
          waiting[ObjectIdentifier(flow)] = Self.notesStarts(flow) ? nil : flow
        }
      }
    } catch { guard reader.framesRead > 0 else { throw error } }
    for flow in waiting.values {
      reassembler.start(flow)
      _ = Self.notesStarts(flow)
    }
    reassembler.finish()
    summary.frames = reader.framesRead
    summary.connections = emitter.recognised
    return secrets.records
  }

  /// Notes by which sequence numbers the streams of a connection begin.
  /// - Returns: Whether that is known of both, or of no use.
  private static func notesStarts(_ flow: TCPReassembler<SessionTraffic>.Flow) -> Bool {
    guard let connection = flow.connection, let record = connection.record else {
      return flow.isClosed
    }
    if let suite = connection.tls?.session.serverHello?.suite {
      // Some only sign what they send (RFC 5246 appendix A.5, RFC 9150): then all of it is cut off.
      let isPlain = suite.name.contains("_NULL_") || suite.name.hasPrefix("TLS_SHA")
      record.kind = isPlain ? .decoded : .encrypted
    }
    for side in [Side.first, .second] where record.starts[side.rawValue] == nil {
      guard flow[side].isBegun, let next = flow[side].nextSequence else { continue }
      record.starts[side.rawValue] =
        next &- UInt32(truncatingIfNeeded: record.counts[side.rawValue])
    }
    return !record.starts.contains(nil)
  }
}

/// Hides what must not be told in frames.
private final class FrameRedactor {
  private let rules: RedactionRules
  private var records: [FlowKey: [StreamRecord]] = [:]
  private var last: [ObjectIdentifier: [Int]] = [:]
  private var dissector = FrameDissector()
  private(set) var changed = 0
  private(set) var cut = 0
  private(set) var lookedThrough = 0

  init(_ records: [StreamRecord], _ rules: RedactionRules) {
    self.rules = rules
    for record in records {
      record.settle(asMQTT: false)
      record.sortPlaces()
      let key = FlowKey.of(record.opening.first, record.opening.second).key
      self.records[key, default: []].append(record)
    }
    for key in self.records.keys {
      self.records[key]?.sort { $0.opening.arrival.frame < $1.opening.arrival.frame }
    }
  }

  /// Returns what is written of a frame.
  func redact(_ frame: borrowing Frame) -> CaptureCopier.Choice {
    var edit = FrameEdit(Array(copying: frame.bytes))
    var hasSegment = false
    dissector.openFragment = nil
    dissector.dissect(frame) { segment in
      hasSegment = true
      // What several frames have together is in none of them whole.
      guard let place = segment.payload.place(in: frame.bytes) else {
        return edit.cut(at: Self.payloadStart(of: frame))
      }
      redact(segment, at: place, &edit)
    }
    if !hasSegment {
      if dissector.openFragment != nil {
        edit.cut(at: Self.payloadStart(of: frame))
      } else if let end = FrameWithoutTCP(frame).end(of: frame.bytes, rules) {
        edit.cut(at: end)
      }
    }
    edit.clear(from: Self.packetEnd(of: frame))
    guard edit.isChanged else { return .copied }
    changed += 1
    if edit.isCut { cut += 1 }
    return .changed(edit.bytes)
  }

  /// Where what an IP packet carries begins in a frame; 0 where that is not known.
  private static func payloadStart(of frame: borrowing Frame) -> Int {
    let content = LinkLayer.content(of: frame.bytes, frame.linkType)
    guard case .ip(let offset) = content else { return 0 }
    let packet = frame.bytes.clamped(offset, frame.bytes.byteCount)
    let header = try? InternetHeader(packet, wireLength: frame.wireLength - offset)
    return offset + (header?.payloadStart ?? 0)
  }

  /// Where the IP packet of a frame ends, behind which stands whatever fills the frame up; the frame's end where that is
  /// not known.
  private static func packetEnd(of frame: borrowing Frame) -> Int {
    let content = LinkLayer.content(of: frame.bytes, frame.linkType)
    guard case .ip(let offset) = content else { return frame.bytes.byteCount }
    let packet = frame.bytes.clamped(offset, frame.bytes.byteCount)
    let header = try? InternetHeader(packet, wireLength: frame.wireLength - offset)
    return header.map { offset + $0.payloadEnd } ?? frame.bytes.byteCount
  }

  private func redact(_ segment: borrowing TCPSegment, at place: Int, _ edit: inout FrameEdit) {
    guard !segment.payload.isEmpty else { return }
    let record = record(of: segment)
    switch record?.kind ?? .unknown {
    case .encrypted: return
    case .unknown:
      // What comes behind the end of a connection was not read with it: the CONNECT of a client that was refused, perhaps.
      guard let record, let (range, side) = range(of: segment, record) else {
        return edit.cut(at: place)
      }
      lookedThrough += 1
      var places = rules.places(in: segment.payload).places
      places += record.textPlaces(side).inside(range, longest: record.longest).map {
        .init(offset: $0.offset - range.lowerBound, bytes: $0.bytes)
      }
      edit.hide(places, in: segment, at: place)
      let read = record.counts[side.rawValue]
      if read < range.upperBound { edit.cut(at: place + max(0, read - range.lowerBound)) }
    case .decoded:
      guard let record else { return }
      redact(segment, at: place, record, &edit)
    }
  }

  private func record(of segment: borrowing TCPSegment) -> StreamRecord? {
    let frame = segment.frame
    return records[FlowKey.of(segment.source, segment.destination).key]?
      .last { $0.opening.arrival.frame <= frame }
  }

  private func redact(
    _ segment: borrowing TCPSegment, at place: Int, _ record: StreamRecord,
    _ edit: inout FrameEdit
  ) {
    guard let (range, side) = range(of: segment, record) else { return edit.cut(at: place) }
    let stream = record.streams[side.rawValue]
    edit.hide(
      stream.places.inside(range, longest: record.longest).map {
        .init(offset: $0.offset - range.lowerBound, bytes: $0.bytes)
      }, in: segment, at: place)
    if let unknown = stream.firstUnknown(in: range) {
      edit.cut(at: place + unknown - range.lowerBound)
    }
  }

  /// Where a segment's payload stands in its stream; nil where that is not known.
  private func range(
    of segment: borrowing TCPSegment, _ record: StreamRecord
  ) -> (Range<Int>, Side)? {
    let side: Side = segment.source == record.opening.first ? .first : .second
    guard let start = record.starts[side.rawValue] else { return nil }
    let sequence = segment.sequenceNumber &+ (segment.flags.contains(.syn) ? 1 : 0)
    // Numbers wrap around every 4 GiB: the place is the one that is nearest to the last.
    let identity = ObjectIdentifier(record)
    let known = last[identity]?[side.rawValue] ?? 0
    let expected = start &+ UInt32(truncatingIfNeeded: known)
    let offset = known + Int(Int32(bitPattern: sequence &- expected))
    last[identity, default: [0, 0]][side.rawValue] = max(known, offset)
    return (offset..<offset + segment.payload.byteCount, side)
  }
}

extension StreamRecord.Stream {
  /// The first byte of a range that was not read; nil if all were.
  func firstUnknown(in range: Range<Int>) -> Int? {
    var next = range.lowerBound
    for part in known.overlapping(range) {
      guard part.lowerBound <= next else { return next }
      next = max(next, part.upperBound)
    }
    return next < range.upperBound ? next : nil
  }
}

extension [SecretPlaces.Place] {
  /// The parts of a range, as far as they stand in it; the places are in order.
  fileprivate func inside(_ range: Range<Int>, longest: Int) -> [SecretPlaces.Place] {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].offset + longest <= range.lowerBound {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return self[low...].prefix { $0.offset < range.upperBound }
      .compactMap { place -> SecretPlaces.Place? in
        let whole = place.offset..<place.offset + place.bytes.count
        let part = whole.clamped(to: range)
        guard !part.isEmpty else { return nil }
        let bytes = place.bytes[
          (part.lowerBound - whole.lowerBound)..<(part.upperBound - whole.lowerBound)]
        return .init(offset: part.lowerBound, bytes: [UInt8](bytes))
      }
  }
}

extension [Range<Int>] {
  /// The ranges, of such that are in order, that share something with another one.
  fileprivate func overlapping(_ range: Range<Int>) -> ArraySlice<Range<Int>> {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if self[middle].upperBound <= range.lowerBound { low = middle + 1 } else { high = middle }
    }
    return self[low...].prefix { $0.lowerBound < range.upperBound }
  }
}

/// A frame in which something is overwritten.
private struct FrameEdit {
  private var whole: [UInt8]
  private var end: Int
  private(set) var isChanged = false

  init(_ bytes: [UInt8]) {
    whole = bytes
    end = bytes.count
  }

  var isCut: Bool { end < whole.count }

  var bytes: [UInt8] { Array(whole.prefix(end)) }

  mutating func cut(at place: Int) {
    guard place < end else { return }
    end = max(0, place)
    isChanged = true
  }

  /// Overwrites with zeros what stands behind a place.
  mutating func clear(from place: Int) {
    for target in max(0, min(place, end))..<end where whole[target] != 0 {
      whole[target] = 0
      isChanged = true
    }
  }

  /// Overwrites parts of a segment's payload, and makes its checksum right if it was (RFC 1624).
  mutating func hide(
    _ places: [SecretPlaces.Place], in segment: borrowing TCPSegment, at payload: Int
  ) {
    guard !places.isEmpty else { return }
    let field = payload - segment.headerLength + 16
    guard field >= 0, field + 1 < whole.count else { return cut(at: payload) }
    let checksum = UInt32(whole[field]) << 8 | UInt32(whole[field + 1])
    var sum = ~checksum & 0xFFFF
    for place in places {
      for (index, byte) in place.bytes.enumerated() {
        let target = payload + place.offset + index
        guard whole.indices.contains(target) else { continue }
        let shift: UInt32 = (place.offset + index) % 2 == 0 ? 8 : 0
        sum += (~(UInt32(whole[target]) << shift) & 0xFFFF) + UInt32(byte) << shift
        sum = (sum & 0xFFFF) + sum >> 16
        if whole[target] != byte { isChanged = true }
        whole[target] = byte
      }
    }
    while sum > 0xFFFF { sum = (sum & 0xFFFF) + sum >> 16 }
    let right = ~sum & 0xFFFF
    whole[field] = UInt8(truncatingIfNeeded: right >> 8)
    whole[field + 1] = UInt8(truncatingIfNeeded: right)
  }
}
