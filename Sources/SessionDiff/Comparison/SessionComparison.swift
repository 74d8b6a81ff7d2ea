import RepriseCore

/// What differs between two sessions.
package struct SessionComparison: Sendable {
  /// The connections on which something differs or can't be known, in order of the first session.
  package private(set) var connections: [ConnectionDifferences] = []
  /// How many connections are in both.
  package private(set) var matched = 0
  /// How many connections of both were compared, and of those one of them lacks.
  package private(set) var count = 0
  /// How many differences of each kind there are.
  package private(set) var totals: [Difference.Kind: Int] = [:]
  /// How many connections are in one session alone, where the other one would have them: the first, the second.
  package private(set) var unmatched = (a: 0, b: 0)
  /// How many connections are in one session alone, where the other one may lack them as it lacks connections.
  package private(set) var unknownConnections = 0
  /// How many things could not be compared, as the other session lacks bytes where they would stand.
  package private(set) var unknown = 0

  /// Compares.
  /// - Parameters:
  ///   - plan: What has to be looked at.
  ///   - a: What the first session has there.
  ///   - b: What the second session has there.
  ///   - options: What counts.
  package init(
    _ plan: SessionPlan, _ a: SessionDetails, _ b: SessionDetails, _ options: DiffOptions
  ) {
    for connection in plan.connections {
      count += 1
      guard let sideA = connection.a, let sideB = connection.b else {
        take(connection, plan, options)
        continue
      }
      matched += 1
      var result = ConnectionDifferences(a: .init(sideA, options), b: .init(sideB, options))
      for (lane, plan) in connection.lanes.enumerated() {
        var lanes = LaneComparison(
          Lane(rawValue: lane) ?? .end,
          spokenA: { a.spoken(sideA.number, lane, $0) },
          spokenB: { b.spoken(sideB.number, lane, $0) },
          lacksAnswers: (
            a: sideA.hasLoss(inOtherThan: lane), b: sideB.hasLoss(inOtherThan: lane)
          ))
        lanes.compare(plan, isCut: a.isCut || b.isCut)
        result.add(lanes, plan, options)
      }
      take(&result)
    }
  }

  /// Whether they are the same, as far as both can be read.
  package var isSame: Bool {
    unmatched == (0, 0) && totals.values.allSatisfy { $0 == 0 }
      && !connections.contains(where: \.isCut)
  }

  /// Takes a connection that one session has alone.
  private mutating func take(
    _ connection: SessionPlan.Connection, _ plan: SessionPlan, _ options: DiffOptions
  ) {
    var result = ConnectionDifferences(
      a: connection.a.map { .init($0, options) }, b: connection.b.map { .init($0, options) })
    result.mayBeInBoth =
      connection.a == nil ? plan.mayLackConnections.a : plan.mayLackConnections.b
    connections.append(result)
    if result.mayBeInBoth {
      unknownConnections += 1
    } else if connection.a == nil {
      unmatched.b += 1
    } else {
      unmatched.a += 1
    }
  }

  private mutating func take(_ result: inout ConnectionDifferences) {
    result.differences.sort { $0.place < $1.place }
    for difference in result.differences { totals[difference.kind, default: 0] += 1 }
    unknown += result.unknown.count
    if !result.differences.isEmpty || !result.unknown.isEmpty || result.isCut {
      connections.append(result)
    }
  }
}

extension SessionDigest.Connection {
  /// Whether bytes are missing of what one end says; what the other one asked may have been answered there.
  fileprivate func hasLoss(inOtherThan lane: Int) -> Bool {
    lanes.enumerated().contains { number, items in
      number != lane && number != Lane.end.rawValue && items.contains(where: \.isLoss)
    }
  }
}

extension ConnectionDifferences.Side {
  fileprivate init(_ connection: SessionDigest.Connection, _ options: DiffOptions) {
    self.init(
      number: connection.number,
      clientID: connection.clientID.map { options.hidden.shown($0) as String },
      wire: connection.wire, frame: connection.frame,
      items: connection.lanes.reduce(0) { $0 + $1.count { !$0.isLoss } })
  }
}

extension ConnectionDifferences {
  fileprivate mutating func add(
    _ lane: LaneComparison, _ plan: LanePlan, _ options: DiffOptions
  ) {
    differences += lane.differences.filter { $0.kind != .moved || !options.ignoresOrder }
    unknown += lane.unknown
    losses += lane.losses
    isRough = isRough || plan.isRough
    isCut = isCut || lane.isCut
  }
}
