import RepriseCore

/// What becomes of the filters that SUBSCRIBEs and UNSUBSCRIBEs under way are about, whatever the order of the answers.
///
/// The cloud takes them in the order in which they were sent, and what came last holds (MQTT 3.1.1 sections 3.8.4 and
/// 3.10.4). Nothing is to rely on a filter behind an UNSUBSCRIBE that is not answered, as it is gone or will be,
/// but one that is refused (MQTT 5.0 section 3.11.3) has changed nothing.
struct SubscriptionOrder: Sendable {
  /// What a filter is after an answer.
  struct Outcome {
    let filter: String
    /// For whom the cloud has it; nil when nothing is to rely on it.
    let owner: Grant.Owner?
  }

  /// A packet about one filter, and how far it is.
  private enum Step {
    /// SUBSCRIBE was sent.
    case asked
    /// SUBSCRIBE was granted.
    case granted(Grant.Owner)
    /// UNSUBSCRIBE was sent.
    case takingBack
    /// UNSUBSCRIBE was acknowledged.
    case takenBack
    /// Nothing was sent: who has it needs it no longer, and leaves it to another.
    case left(Grant.Owner)

    var isAnswered: Bool {
      switch self {
      case .asked, .takingBack: false
      case .granted, .takenBack, .left: true
      }
    }

    /// For whom the cloud has the filter behind it; who asked for more has it.
    func owner(behind owner: Grant.Owner?) -> Grant.Owner? {
      switch self {
      case .asked: owner
      case .granted(let new): owner.map { max($0, new) } ?? new
      case .takingBack, .takenBack: nil
      case .left(let new): owner.map { min($0, new) }
      }
    }
  }

  /// The packets about one filter from the first that is not answered.
  private struct Course {
    /// For whom the cloud had it before them.
    var former: Grant.Owner?
    var steps: [(action: ClientAction.ID?, step: Step)] = []

    var owner: Grant.Owner? { steps.reduce(former) { $1.step.owner(behind: $0) } }

    /// Forgets packets that nothing before them can change any more.
    mutating func settle() {
      while let first = steps.first, first.step.isAnswered {
        former = first.step.owner(behind: former)
        steps.removeFirst()
      }
    }
  }

  private var courses: [String: Course] = [:]
  private var filters: [ClientAction.ID: [String]] = [:]

  /// Whether a packet about a filter is not answered yet.
  func isUnderWay(_ filter: String) -> Bool { courses[filter] != nil }

  /// A SUBSCRIBE is sent.
  /// - Parameters:
  ///   - filter: One of its filters.
  ///   - action: The SUBSCRIBE.
  ///   - owner: For whom the cloud has the filter by now.
  mutating func noteSubscribe(
    _ filter: String, _ action: ClientAction.ID, former owner: Grant.Owner?
  ) {
    append(.asked, filter, action, former: owner)
  }

  /// An UNSUBSCRIBE is sent; nothing is to rely on the filter any more.
  /// - Parameters:
  ///   - filter: One of its filters.
  ///   - action: The UNSUBSCRIBE.
  ///   - owner: For whom the cloud has the filter by now.
  mutating func noteUnsubscribe(
    _ filter: String, _ action: ClientAction.ID, former owner: Grant.Owner?
  ) {
    append(.takingBack, filter, action, former: owner)
  }

  /// The owner of a filter needs it no longer, although it is not taken back.
  /// - Parameters:
  ///   - filter: The filter.
  ///   - owner: For whom the cloud has the filter by now.
  ///   - new: To whom it is left.
  /// - Returns: What the filter is now.
  mutating func noteLeft(_ filter: String, former owner: Grant.Owner?, to new: Grant.Owner)
    -> Outcome
  {
    var course = courses[filter] ?? Course(former: owner)
    course.steps.append((nil, .left(new)))
    return settle(course, filter)
  }

  /// The cloud has ended what it had granted of a filter until now.
  mutating func noteEnded(_ filter: String) {
    guard var course = courses[filter] else { return }
    course.former = nil
    course.steps.removeAll { if case .granted = $0.step { true } else { false } }
    _ = settle(course, filter)
  }

  private mutating func append(
    _ step: Step, _ filter: String, _ action: ClientAction.ID, former owner: Grant.Owner?
  ) {
    courses[filter, default: Course(former: owner)].steps.append((action, step))
    filters[action, default: []].append(filter)
  }

  /// A SUBSCRIBE is answered.
  /// - Parameters:
  ///   - action: The SUBSCRIBE.
  ///   - owners: For whom each of its filters was granted; nil when it was refused.
  /// - Returns: What its filters are now; none when it is not one of those under way.
  mutating func noteGranted(_ action: ClientAction.ID, _ owners: [Grant.Owner?]) -> [Outcome] {
    let answered = filters.removeValue(forKey: action) ?? []
    return answered.enumerated().map { index, filter in
      let owner = owners.indices.contains(index) ? owners[index] : nil
      return answer(action, filter, owner.map { .granted($0) })
    }
  }

  /// An UNSUBSCRIBE is acknowledged.
  /// - Parameter action: The UNSUBSCRIBE.
  /// - Returns: What its filters are now; none when it is not one of those under way.
  mutating func noteTakenBack(_ action: ClientAction.ID) -> [Outcome] {
    (filters.removeValue(forKey: action) ?? []).map { answer(action, $0, .takenBack) }
  }

  /// A SUBSCRIBE or an UNSUBSCRIBE was refused, or came to nothing: it is as if it had not been sent.
  /// - Parameter action: The SUBSCRIBE or the UNSUBSCRIBE.
  /// - Returns: What its filters are now; none when it is not one of those under way.
  mutating func noteFailure(_ action: ClientAction.ID) -> [Outcome] {
    (filters.removeValue(forKey: action) ?? []).map { answer(action, $0, nil) }
  }

  private mutating func answer(
    _ action: ClientAction.ID, _ filter: String, _ step: Step?
  ) -> Outcome {
    guard var course = courses[filter],
      let index = course.steps.firstIndex(where: { $0.action == action })
    else { return Outcome(filter: filter, owner: nil) }
    if let step { course.steps[index].step = step } else { course.steps.remove(at: index) }
    return settle(course, filter)
  }

  private mutating func settle(_ course: Course, _ filter: String) -> Outcome {
    var course = course
    course.settle()
    courses[filter] = course.steps.isEmpty ? nil : course
    return Outcome(filter: filter, owner: course.owner)
  }
}
