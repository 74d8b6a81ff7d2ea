import RepriseCore
import TestSupport

/// What can happen to a capture between the wire and the file.
enum Damage: String, CaseIterable {
  /// One frame of a hundred is missing, or of ten.
  case rareLoss, heavyLoss
  /// A fifth of one direction is missing.
  case lossOfOneWay
  /// Runs of frames are missing, as where the capture paused.
  case bursts
  case cutStart, cutEnd, cutBoth
  /// Only one direction of each connection was captured.
  case oneWay
  case snapshot70, snapshot100, snapshot200
  case duplicates
  /// Neighbours of one direction change places.
  case swapsWithin
  /// Frames come up to three places late among those of the other direction, with their times.
  case swapsBetween
  /// The same, where what is held back on its way to the file gets the time at which it arrives there, be that minutes
  /// later; nothing arrives before it was sent.
  case swapsBetweenTimed
  /// The directions were captured by two clocks, up to two minutes apart, and merged by their times.
  case skewedClocks
  /// Loss and swaps of all kinds.
  case everything

  /// Whether every byte is still in the file, so that all events must be there.
  var keepsAll: Bool {
    switch self {
    case .duplicates, .swapsWithin, .swapsBetween, .swapsBetweenTimed: true
    default: false
    }
  }

  /// Damages frames; the same seed gives the same damage.
  func apply(to whole: CapturedFrames, seed: UInt64) -> CapturedFrames {
    var random = SplitMix64(seed: seed &* 1_000 &+ UInt64(Self.allCases.firstIndex(of: self) ?? 0))
    let frames = whole.frames
    switch self {
    case .rareLoss: return Self.lose(1, frames, &random)
    case .heavyLoss: return Self.lose(10, frames, &random)
    case .lossOfOneWay:
      let isFromLower = random.int(0...1) == 0
      return CapturedFrames(
        frames.filter { $0.way?.isFromLower != isFromLower || random.int(0...4) > 0 })
    case .bursts: return Self.burst(frames, &random)
    case .cutStart: return CapturedFrames(Array(frames.dropFirst(Self.place(frames, &random))))
    case .cutEnd: return CapturedFrames(Array(frames.prefix(Self.place(frames, &random))))
    case .cutBoth:
      let first = Self.place(frames, &random)
      return CapturedFrames(Array(frames[first...].prefix(Self.place(frames, &random))))
    case .oneWay:
      let isFromLower = random.int(0...1) == 0
      return CapturedFrames(frames.filter { $0.way?.isFromLower != isFromLower })
    case .snapshot70: return Self.snap(70, frames)
    case .snapshot100: return Self.snap(100, frames)
    case .snapshot200: return Self.snap(200, frames)
    case .duplicates: return Self.duplicate(frames, &random)
    case .swapsWithin: return Self.swapWithin(frames, &random)
    case .swapsBetween: return Self.swapBetween(frames, keepingTimes: true, &random)
    case .swapsBetweenTimed: return Self.swapBetween(frames, keepingTimes: false, &random)
    case .skewedClocks: return Self.skew(frames, &random)
    case .everything:
      var damaged = Self.swapWithin(frames, &random)
      damaged = Self.swapBetween(damaged.frames, keepingTimes: true, &random)
      damaged = Self.duplicate(damaged.frames, &random)
      return Self.lose(5, damaged.frames, &random)
    }
  }

  private static func place(_ frames: [CapturedFrame], _ random: inout SplitMix64) -> Int {
    random.int(0...max(0, frames.count - 1))
  }

  private static func lose(
    _ percent: Int, _ frames: [CapturedFrame], _ random: inout SplitMix64
  ) -> CapturedFrames {
    CapturedFrames(frames.filter { _ in random.int(0...99) >= percent })
  }

  private static func burst(
    _ frames: [CapturedFrame], _ random: inout SplitMix64
  ) -> CapturedFrames {
    var kept: [CapturedFrame] = []
    var left = 0
    for frame in frames {
      if left == 0, random.int(0...29) == 0 { left = random.int(2...20) }
      if left > 0 { left -= 1 } else { kept.append(frame) }
    }
    return CapturedFrames(kept)
  }

  private static func snap(_ length: Int, _ frames: [CapturedFrame]) -> CapturedFrames {
    CapturedFrames(
      frames.map { frame in
        var frame = frame
        frame.bytes = Array(frame.bytes.prefix(length))
        return frame
      })
  }

  private static func duplicate(
    _ frames: [CapturedFrame], _ random: inout SplitMix64
  ) -> CapturedFrames {
    var result: [CapturedFrame] = []
    for (index, frame) in frames.enumerated() {
      result.append(frame)
      if random.int(0...9) == 0 { result.append(frames[max(0, index - random.int(0...3))]) }
    }
    return CapturedFrames(result)
  }

  private static func swapWithin(
    _ frames: [CapturedFrame], _ random: inout SplitMix64
  ) -> CapturedFrames {
    var frames = frames
    var index = 0
    while index < frames.count {
      defer { index += 1 }
      guard let way = frames[index].way, random.int(0...4) == 0 else { continue }
      // Over one that is next to it at most: what is farther off is no neighbour.
      let next = frames[(index + 1)...].prefix(3).firstIndex { $0.way == way }
      guard let next else { continue }
      frames.swapAt(index, next)
      index = next
    }
    return CapturedFrames(frames)
  }

  private static func swapBetween(
    _ frames: [CapturedFrame], keepingTimes: Bool, _ random: inout SplitMix64
  ) -> CapturedFrames {
    var result = frames
    var index = 0
    while index < result.count {
      guard let way = result[index].way, random.int(0...4) == 0 else {
        index += 1
        continue
      }
      var distance = random.int(1...3)
      let others = result[(index + 1)...].prefix(distance)
      distance = others.prefix { $0.way != way }.count
      var moved = result.remove(at: index)
      if !keepingTimes, distance > 0 { moved.time = result[index + distance - 1].time }
      result.insert(moved, at: index + distance)
      index += distance + 1
    }
    return CapturedFrames(result)
  }

  private static func skew(
    _ frames: [CapturedFrame], _ random: inout SplitMix64
  ) -> CapturedFrames {
    let isFromLower = random.int(0...1) == 0
    // From moments to minutes, each as likely as the other.
    let skew = Double(1 << random.int(0...17)) / 1_000
    var result = frames
    for index in result.indices where result[index].way?.isFromLower == isFromLower {
      result[index].time = result[index].time.map { $0.advanced(by: .seconds(skew)) }
    }
    let order = result.indices.sorted {
      guard let first = result[$0].time, let second = result[$1].time, first != second else {
        return $0 < $1
      }
      return first < second
    }
    return CapturedFrames(order.map { result[$0] })
  }
}
