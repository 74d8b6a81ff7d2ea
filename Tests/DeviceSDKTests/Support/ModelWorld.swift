import Testing

/// A ``FuzzWorld`` with a model of what has to come of what its machine is asked for.
protocol ModelWorld: FuzzWorld {
  /// How often it came to something.
  var seen: [String: Int] { get }
  /// What is not as the model has it.
  var problems: [String] { get }
}

/// Runs worlds of several seeds; the first in which something does not hold is told with all that has happened.
func expectSound<World: ModelWorld>(
  _ seeds: Range<UInt64>, sourceLocation: SourceLocation = #_sourceLocation,
  _ run: (UInt64) throws -> World
) throws {
  for seed in seeds {
    let world = try run(seed)
    let problems = world.problems
    guard problems.isEmpty else {
      let story = world.fuzz.story.joined(separator: "\n")
      Issue.record("seed \(seed): \(problems)\n\(story)", sourceLocation: sourceLocation)
      return
    }
  }
}

/// Sequences that reach nothing would show nothing: each of several things comes about five times at least.
func expectReached<World: ModelWorld>(
  _ events: [String], _ seeds: Range<UInt64>, sourceLocation: SourceLocation = #_sourceLocation,
  _ run: (UInt64) throws -> World
) throws {
  var seen: [String: Int] = [:]
  for seed in seeds { seen.merge(try run(seed).seen) { $0 + $1 } }
  let missing = events.filter { seen[$0, default: 0] < 5 }
  #expect(missing == [], "\(seen)", sourceLocation: sourceLocation)
}
