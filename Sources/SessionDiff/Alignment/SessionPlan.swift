/// Which connections of two sessions are the same, and what on them has to be looked at again.
package struct SessionPlan: Sendable {
  /// A connection of both sessions, or of one alone.
  struct Connection: Sendable {
    var a: SessionDigest.Connection?
    var b: SessionDigest.Connection?
    /// Nothing for a connection of one alone.
    var lanes: [LanePlan] = []
  }

  private(set) var connections: [Connection]
  /// Whether the first session may have had connections that nobody knows of, and whether the second may.
  let mayLackConnections: (a: Bool, b: Bool)

  /// Compares two sessions by what is kept of them.
  ///
  /// Of several ways to lay them side by side the same one is taken, whichever of the two is the first.
  package init(_ a: SessionDigest, _ b: SessionDigest) {
    let (chosenA, chosenB) = (a.chosen, b.chosen)
    mayLackConnections = (a.mayLackConnections, b.mayLackConnections)
    let isTurned = Self.precedes(chosenB, chosenA)
    connections =
      isTurned ? Self.connections(chosenB, chosenA) : Self.connections(chosenA, chosenB)
    if isTurned {
      connections = connections.map {
        Connection(a: $0.b, b: $0.a, lanes: $0.lanes.map(\.turned))
      }
    }
    connections.sort { Self.place($0) < Self.place($1) }
  }

  /// Whether neither session has anything to compare.
  package var isEmpty: Bool { connections.isEmpty }

  private static func place(_ connection: Connection) -> (Int, Int) {
    (connection.a?.number ?? .max, connection.b?.number ?? 0)
  }

  private static func precedes(
    _ a: [SessionDigest.Connection], _ b: [SessionDigest.Connection]
  ) -> Bool {
    func numbers(_ connections: [SessionDigest.Connection]) -> some Sequence<UInt64> {
      connections.lazy.flatMap(\.lanes).joined().lazy.flatMap { [$0.exact, $0.answers] }
    }
    return numbers(a).lexicographicallyPrecedes(numbers(b))
  }

  private static func connections(
    _ a: [SessionDigest.Connection], _ b: [SessionDigest.Connection]
  ) -> [Connection] {
    let matching = ConnectionMatching(a, b)
    return matching.pairs.map { pair in
      let (first, second) = (a[pair.a], b[pair.b])
      let lanes = zip(first.lanes, second.lanes).map { LanePlan($0, $1) }
      return Connection(a: first, b: second, lanes: lanes)
    } + matching.onlyA.map { Connection(a: a[$0]) } + matching.onlyB.map { Connection(b: b[$0]) }
  }

  /// What has to be read again of the first session, or of the second.
  package func places(inFirst isFirst: Bool) -> SessionPlaces {
    var places = SessionPlaces()
    for connection in connections {
      guard let number = (isFirst ? connection.a : connection.b)?.number else { continue }
      for (lane, plan) in connection.lanes.enumerated() {
        for part in plan.parts {
          let steps = part.steps.compactMap { isFirst ? $0.a : $0.b }
          let context = part.context.map { isFirst ? $0.a : $0.b }
          places.add(
            steps + (isFirst ? part.lossesA : part.lossesB) + [context].compactMap(\.self),
            number, lane)
        }
      }
    }
    return places
  }
}

/// Places in a session: of connections, by lane and index.
package struct SessionPlaces: Sendable {
  struct Place: Sendable, Hashable {
    let connection: Int
    let lane: Int
    let index: Int
  }

  private(set) var places: Set<Place> = []

  /// Whether there are none.
  package var isEmpty: Bool { places.isEmpty }

  mutating func add(_ indices: [Int], _ connection: Int, _ lane: Int) {
    for index in indices {
      places.insert(Place(connection: connection, lane: lane, index: index))
    }
  }
}

extension LanePlan {
  /// The same with the sides in each other's place.
  var turned: LanePlan {
    var turned = self
    turned.parts = parts.map { part in
      Part(
        steps: Self.orderingSides(
          part.steps.map { Step(a: $0.b, b: $0.a, isEqual: $0.isEqual) }),
        context: part.context.map { (a: $0.b, b: $0.a) }, lossesA: part.lossesB,
        lossesB: part.lossesA, isCutA: part.isCutB, isCutB: part.isCutA)
    }
    return turned
  }

  /// Puts what is on the first side alone before what is on the second alone, between two pairs.
  private static func orderingSides(_ steps: [Step]) -> [Step] {
    var ordered: [Step] = []
    var waiting: [Step] = []
    for step in steps {
      if step.a != nil, step.b == nil {
        ordered.append(step)
      } else if step.a == nil {
        waiting.append(step)
      } else {
        ordered += waiting + [step]
        waiting = []
      }
    }
    return ordered + waiting
  }
}
