package import RepriseCore

/// The files of one capture that are read one after the other.
struct CaptureParts {
  /// What counts the bytes that are read.
  let count: ReadCount?
  /// The files that are still to be read, the last one first.
  private var rest: [String]
  /// Where each file begins, as far as it was read.
  private(set) var joints: [CaptureJoint]
  /// How many frames the files before the present one have.
  private(set) var framesBefore = 0
  /// How many frames were lost while the files before the present one were captured, as far as they say so.
  private(set) var framesDropped = 0
  /// Where files before the last one are damaged.
  var cuts: [CaptureError] = []
  /// The time of the last frame that has one.
  private var last: Timestamp?
  /// Whether a file begins long before the one in front of it ends.
  private(set) var isOutOfOrder = false

  /// Interfaces that are captured into one file are read in turn: so much a frame may be late, in nanoseconds.
  private static let mostLate: Int64 = 1_000_000_000

  init(_ paths: [String], counting count: ReadCount?) {
    self.count = count
    rest = paths.dropFirst().reversed()
    joints = paths.first.map { [CaptureJoint(file: $0, firstFrame: 1)] } ?? []
  }

  /// Whether the present file is the last one.
  var isLast: Bool { rest.isEmpty }

  /// Takes the next file, behind so many frames.
  mutating func takeNext(after frames: Int, dropped: Int) -> String? {
    guard let next = rest.popLast() else { return nil }
    framesBefore = frames
    framesDropped += dropped
    joints.append(CaptureJoint(file: next, firstFrame: frames + 1))
    return next
  }

  /// Notes when a frame was captured.
  /// - Throws: `CaptureError` where a file begins before the one in front of it ends.
  mutating func note(_ record: FrameRecord, number: Int) throws(CaptureError) {
    guard let time = record.time else { return }
    if number == framesBefore + 1, joints.count > 1 {
      let before = joints[joints.count - 2].file
      joints[joints.count - 1].time = time
      if let last, time.nanoseconds < last.nanoseconds &- Self.mostLate {
        isOutOfOrder = true
        throw CaptureError(
          .outOfOrder, "it begins at \(time), before \(before) ends at \(last)",
          frame: 1,
          remedy: "join files only that one program captured one after the other, each once; "
            + "mergecap merges those that were captured at once"
        ).inFile(joints[joints.count - 1].file)
      }
    }
    last = time
  }

  /// The error of a file that has no frames.
  static let recording = CaptureError(
    .unknownFormat, "this is a recording, and no part of a capture",
    remedy: "name it without --joined")
}

/// Where a part of a capture begins.
package struct CaptureJoint: Sendable, Hashable {
  /// The file.
  package let file: String
  /// The number of its first frame among those of all parts, from 1.
  package let firstFrame: Int
  /// When that was captured; nil of the first part, and of a part without frames.
  package fileprivate(set) var time: Timestamp?
}

extension CaptureJoint {
  /// Puts the parts of a capture in the order in which they were captured: by the times of their first frames.
  ///
  /// The numbers in names don't tell it, as `day.pcap10` comes before `day.pcap2`. Those that begin at one time are in
  /// the order of their names, and a part without frames keeps its place.
  /// - Parameter paths: The files.
  /// - Returns: The files in their order.
  /// - Throws: `CaptureError` for a file that is no capture.
  package static func inOrder(_ paths: [String]) throws(CaptureError) -> [String] {
    var timed: [(path: String, time: Timestamp?)] = []
    for path in paths {
      do throws(CaptureError) {
        var source = try ByteSource(path: path)
        if try CaptureFormat.detect(in: &source) == .recording { throw CaptureParts.recording }
        var reader = try CaptureReader(source)
        timed.append((path, try reader.next()?.time))
      } catch {
        // A first frame that is cut belongs where the file stands.
        guard error.isCut else { throw error.inFile(path) }
        timed.append((path, nil))
      }
    }
    let places = timed.indices.filter { timed[$0].time != nil }
    let sorted = timed.compactMap { part in part.time.map { (path: part.path, time: $0) } }
      .sorted { ($0.time, $0.path.utf8.count, $0.path) < ($1.time, $1.path.utf8.count, $1.path) }
    var order = timed.map(\.path)
    for (place, part) in zip(places, sorted) { order[place] = part.path }
    return order
  }
}
