import RepriseCore
import Synchronization

/// A session in memory that is read as a file is: piece by piece, and again for each walk.
final class RereadSource: SessionSource {
  private let state: Mutex<[Event]>
  /// How many events were read by the walk that went furthest.
  private let furthest = Atomic(0)
  private let walkCount = Atomic(0)
  private static let pieceSize = 10

  init(_ events: [Event]) { state = Mutex(events) }

  var events: [Event] {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
  var readCount: Int { furthest.load(ordering: .relaxed) }
  var walks: Int { walkCount.load(ordering: .relaxed) }

  /// What a replay has that keeps nothing of the session.
  func gathered(
    of selection: ReplaySelection = .only, within window: ReplayWindow = ReplayWindow(),
    keeping limit: Int = 0
  ) -> ReplayEvents {
    var gathered = ReplayEvents(of: selection, within: window, rereading: self, keeping: limit)
    for event in events { event.withView { gathered.consume($0) } }
    return gathered
  }

  func open(_ take: @escaping (borrowing EventView) -> Void) throws -> any SessionReading {
    walkCount.add(1, ordering: .relaxed)
    guard !events.isEmpty else { throw Gone() }
    return Reading(source: self, take: take)
  }

  /// A session that is not there any more.
  struct Gone: Error, CustomStringConvertible {
    let description = "no such file"
  }

  private final class Reading: SessionReading {
    let source: RereadSource
    let take: (borrowing EventView) -> Void
    var next = 0

    init(source: RereadSource, take: @escaping (borrowing EventView) -> Void) {
      self.source = source
      self.take = take
    }

    func advance() throws -> Bool {
      let events = source.events
      for event in events[min(next, events.count)...].prefix(RereadSource.pieceSize) {
        event.withView { take($0) }
        next += 1
      }
      source.furthest.max(next, ordering: .relaxed)
      return next < events.count
    }
  }
}
