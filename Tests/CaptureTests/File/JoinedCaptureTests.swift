import Foundation
import RepriseCore
import TestSupport
import Testing
import Wire

@testable import Capture

/// The parts of a capture that are read as one file.
@Suite struct JoinedCaptureTests {
  // MARK: Real captures, cut by another program

  @Test(
    "The parts that editcap cuts a recording into give what the whole gives",
    arguments: PackageFolder.captured)
  func recordings(_ name: String) throws {
    let folder = Scratch()
    let path = PackageFolder.capture(name)
    let whole = try Reading([path])
    for size in [1, max(2, whole.summary.frames / 3), whole.summary.frames] {
      let parts = try Self.cut(path, every: size, in: folder)
      #expect(parts.count == (whole.summary.frames + size - 1) / size)
      for jobs in [1, 2] {
        // Whatever order they are named in.
        let joined = try Reading(CaptureJoint.inOrder(parts.reversed()), jobs: jobs)
        #expect(joined.lines == whole.lines)
        #expect(joined.summary.frames == whole.summary.frames)
        #expect(joined.summary.notes == whole.summary.notes)
        #expect(!joined.summary.lacksParts)
        guard parts.count > 1 else { continue }
        #expect(joined.summary.joints.map(\.file) == parts)
        #expect(
          joined.summary.joints.map(\.firstFrame)
            == Array(stride(from: 1, through: whole.summary.frames, by: size)))
      }
    }
  }

  @Test("A part of another format, and one that is compressed, goes on with the same connections")
  func formats() throws {
    let folder = Scratch()
    let path = PackageFolder.capture("qos-levels-v311")
    let whole = try Reading([path])
    var parts = try Self.cut(path, every: 20, in: folder)
    try #require(parts.count > 3)
    try Self.run(["editcap", "-F", "pcap", parts[1], folder.file("b.pcap")])
    parts[1] = folder.file("b.pcap")
    try Self.run(["gzip", "-n", parts[2]])
    parts[2] += ".gz"
    let joined = try Reading(CaptureJoint.inOrder(parts))
    // Without its nanoseconds a part of pcap has other times.
    #expect(joined.withoutTimes == whole.withoutTimes && joined.summary.joints.map(\.file) == parts)
  }

  // MARK: Parts that are none

  @Test("Captures that were taken at the same time are no parts of one")
  func overlap() throws {
    let folder = Scratch()
    let first = try folder.write(Self.session(from: 0, to: 20), to: "a.pcap").path
    let second = try folder.write(Self.session(from: 10, to: 30), to: "b.pcap").path
    let near = try folder.write(Self.session(from: 19, to: 30), to: "c.pcap").path
    let error = #expect(throws: CaptureError.self) { try Reading([first, second]) }
    #expect(error?.code == .outOfOrder && error?.file == second && error?.frame == 1)
    #expect(
      error?.description
        == "\(second): it begins at 1970-01-01T00:00:10.000000Z, before \(first) ends at "
        + "1970-01-01T00:00:20.000000Z, in frame 1; join files only that one program captured one after the "
        + "other, each once; mergecap merges those that were captured at once")
    // Frames of two interfaces may be late by some time.
    #expect(try Reading([first, near]).summary.joints.count == 2)
  }

  @Test("A recording is no part of a capture")
  func recording() throws {
    let folder = Scratch()
    let first = try folder.write(Self.session(from: 0, to: 2), to: "a.pcap").path
    let second = try folder.write(
      Array(#"{"reprise":1,"source":{"kind":"client"}}"#.utf8) + [10], to: "b.jsonl"
    ).path
    let error = #expect(throws: CaptureError.self) { try CaptureJoint.inOrder([first, second]) }
    #expect(
      error?.description == "\(second): this is a recording, and no part of a capture; name it "
        + "without --joined")
  }

  // MARK: What is missing between parts

  @Test(
    "Bytes that are missing where a part begins tell that one was not named",
    arguments: [true, false])
  func missingPart(isMissing: Bool) throws {
    let folder = Scratch()
    let parts = try (0..<3).map { part in
      try folder.write(
        Self.session(from: part * 10, to: part * 10 + 9, opens: part == 0), to: "\(part).pcap"
      ).path
    }
    let read = try Reading(isMissing ? [parts[0], parts[2]] : parts)
    let note =
      "bytes are missing where \(parts[2]) begins: a part may lie before it that was not named, and what "
      + "whole connections in it would explain stays open"
    #expect(read.summary.lacksParts == isMissing)
    #expect(read.summary.notes.contains(note) == isMissing)
    #expect(read.lines.contains(#""type":"GAP""#) == isMissing)
  }

  @Test("A part that is cut is read to the cut, and the next one goes on")
  func cutPart() throws {
    let folder = Scratch()
    let bytes = Self.session(from: 0, to: 9)
    let first = try folder.write(Array(bytes.dropLast(3)), to: "a.pcap").path
    let second = try folder.write(Self.session(from: 10, to: 19, opens: false), to: "b.pcap").path
    let read = try Reading([first, second])
    #expect(read.summary.lacksParts)
    #expect(read.summary.joints.map(\.firstFrame) == [1, 13])
    let cuts = read.summary.notes.filter { $0.hasSuffix("the rest of this part is missing") }
    #expect(cuts.count == 1 && cuts.first?.hasPrefix("\(first): ") == true)
    #expect(cuts.first?.contains("(frame 13)") == true)
    // Of pings alone it can't be told where one begins, but when the connection ends.
    #expect(read.lines.ranges(of: #""PINGREQ""#).count == 19)
  }

  // MARK: Tools

  /// What was captured from one time to another of a client that sends PINGREQ every second from 0 on, whose connection
  /// opens where that begins, or before.
  private static func session(from start: Int, to end: Int, opens: Bool = true) -> [UInt8] {
    var writer = PcapWriter()
    var next: UInt32 = 1_000
    func add(_ flags: UInt8, _ payload: [UInt8], at second: Int, isClient: Bool = true) {
      let segment = header(next, isClient, flags, payload.count)
      if isClient { next += UInt32(payload.count + Int(flags & 2) / 2) }
      guard second >= start else { return }
      writer.addPacket(
        at: Timestamp(nanoseconds: Int64(second) * 1_000_000_000), segment.span.bytes,
        payload.span.bytes)
    }
    let opening = opens ? start : 0
    add(0x02, [], at: opening)
    add(0x12, [], at: opening, isClient: false)
    add(0x18, [0x10, 13, 0, 4, 0x4D, 0x51, 0x54, 0x54, 4, 2, 0, 60, 0, 1, 0x61], at: opening)
    for second in opening...end { add(0x18, [0xC0, 0], at: second) }
    return writer.bytes
  }

  /// The headers of IPv4 and TCP, without checksums.
  private static func header(
    _ next: UInt32, _ isClient: Bool, _ flags: UInt8, _ length: Int
  ) -> [UInt8] {
    var bytes: [UInt8] = [0x45, 0]
    func put<Value: FixedWidthInteger>(_ values: Value...) {
      for value in values { withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) } }
    }
    let ends: [UInt32] = [0x0A00_0001, 0x0A00_0002]
    let ports: [UInt16] = [40_000, 1_883]
    put(UInt16(40 + length), 0, 0x4000, 0x4006, 0)
    put(isClient ? ends[0] : ends[1], isClient ? ends[1] : ends[0])
    put(isClient ? ports[0] : ports[1], isClient ? ports[1] : ports[0])
    put(isClient ? next : 5_000, isClient ? 5_001 : next)
    put(UInt16(0x5000) | UInt16(flags), 0xFFFF, 0, 0)
    return bytes
  }

  /// What is shown of the events of some parts, and the summary.
  private struct Reading {
    private struct Lines: EventConsumer {
      var writer = EventJSONWriter()
      var bytes: [UInt8] = []

      mutating func consume(_ event: borrowing EventView) { writer.appendLines(event, to: &bytes) }
    }

    let lines: String
    let summary: InputSummary

    init(_ paths: [String], jobs: Int = 1) throws {
      var lines = Lines()
      let options = InputOptions(jobs: jobs)
      summary =
        paths.count == 1
        ? try SessionInput.read(paths[0], options: options, into: &lines)
        : try SessionInput.read(joining: paths, options: options, into: &lines)
      self.lines = String(decoding: lines.bytes, as: UTF8.self)
    }

    var withoutTimes: String { lines.replacing(/"time":"[^"]*"/, with: "") }
  }

  /// Cuts a capture into parts of so many frames.
  private static func cut(_ path: String, every size: Int, in folder: Scratch) throws -> [String] {
    let parts = folder.directory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: parts, withIntermediateDirectories: true)
    try run(["editcap", "-c", "\(size)", path, parts.appending(path: "part.pcapng").path])
    return PackageFolder.files(in: parts.path).map { parts.appending(path: $0).path }
  }

  private static func run(_ command: [String]) throws {
    let status = try ProgramRun(command).status
    try #require(status == 0, "\(command[0]) is needed: make setup installs it")
  }
}
